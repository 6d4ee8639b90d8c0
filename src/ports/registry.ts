// What the registry floor offers: answers about image references, and (for bundles) their content by digest.
import type { BundleAnswer, ImageAnswer } from '../checks/questions.ts'

export interface Registry {
  /** Looks one reference up. Never rejects for what a registry says or fails to say: that is the answer. */
  resolve(reference: string, signal?: AbortSignalLike): Promise<ImageAnswer>
  /** Looks into a bundle image. Never rejects for what is in it. Absent where bundles are not looked into. */
  readBundle?(reference: string, signal?: AbortSignalLike): Promise<BundleAnswer>
  /** Ends all connections; what is asked or waits to be asked again is unknown. */
  close(): Promise<void>
}

/** As much of AbortSignal as a port may know without platform types. */
export interface AbortSignalLike {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
}
