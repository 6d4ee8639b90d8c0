// Who may do something alone, over all instances, for a while.

export interface Lease {
  readonly name: string
  /** Grows with every holder: an old holder's token is refused (T44). */
  readonly fence: number
}

export interface Leases {
  /** A lease that survives the process: undefined while another holder's is valid. */
  acquireLease(name: string, seconds: number): Promise<Lease | undefined>
  /** False when the lease is no longer ours. */
  renewLease(lease: Lease, seconds: number): Promise<boolean>
  releaseLease(lease: Lease): Promise<void>
}
