"""The harness behind every published number: data, protocol, child processes, records, tables."""
