"""Building blocks for front ends that programs use: executes commands of the RPC protocol over any transport."""
