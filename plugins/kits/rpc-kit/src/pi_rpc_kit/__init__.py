"""What front ends for programs share: commands of the RPC protocol, carried out on a session over any transport."""
