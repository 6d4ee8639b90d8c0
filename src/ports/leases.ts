// Exclusive, time-limited leases over all instances.

export interface Lease {
  readonly name: string
  /** Increases with every holder, so that the token of an earlier holder is rejected (docs/threats.md#t44). */
  readonly fence: number
}

export interface LeaseStore {
  /** The lease outlives the process. Undefined while another holder's lease is valid. */
  acquireLease(name: string, seconds: number): Promise<Lease | undefined>
  /** False if the lease is lost. */
  renewLease(lease: Lease, seconds: number): Promise<boolean>
  releaseLease(lease: Lease): Promise<void>
}
