/** The version of the original for which this process stands in. */
export const VERSION = "1.6.0";
