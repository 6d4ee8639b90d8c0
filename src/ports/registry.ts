import type { BundleAnswer, ImageAnswer } from '../checks/questions.ts'

export interface ImageRegistry {
  /** Never rejects: a registry's failure is an answer. */
  resolve(reference: string, signal?: AbortSignalLike): Promise<ImageAnswer>
  /** Never rejects for a bundle image's content. Absent: bundles aren't inspected. */
  readBundle?(reference: string, signal?: AbortSignalLike): Promise<BundleAnswer>
  /** Ends all connections. Open questions are answered as unknown. */
  close(): Promise<void>
}

/** The part of AbortSignal that needs no platform types. */
export interface AbortSignalLike {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
}
