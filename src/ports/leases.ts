// Exclusive, time-limited leases over all instances.

export interface Lease {
  readonly name: string
  /** Increases with every holder, so an old holder's token is refused (T44). */
  readonly fence: number
}

export interface Leases {
  /** Survives the process. Undefined while another holder's lease is valid. */
  acquireLease(name: string, seconds: number): Promise<Lease | undefined>
  /** False when the lease is lost. */
  renewLease(lease: Lease, seconds: number): Promise<boolean>
  releaseLease(lease: Lease): Promise<void>
}
