/** The version of the original for which this process stands in. */
export const VERSION = "0.87.1";
