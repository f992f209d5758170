"""Whether more data ever hurts: families of data at growing n, the default against its peers."""
