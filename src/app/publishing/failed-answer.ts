// Failures of registries, images and git as an answer: words for the App's process. What is our own failure stays one.
import { GitError } from '../../git/git-error.ts'
import { ImageError } from '../../image/image-error.ts'
import { RegistryError } from '../../registry/registry-error.ts'
import { UnusableCatalog } from './catalog-files.ts'
import type { PublishAnswer } from './publish-order.ts'

export function failedAnswer(error: unknown): Extract<PublishAnswer, { kind: 'failed' }> {
  if (error instanceof RegistryError)
    return {
      kind: 'failed',
      why: error.message,
      // Wrong credentials are made right without our being told.
      retryable: error.retryable,
      ...(error.retryAfter !== undefined && { retryAfter: error.retryAfter }),
    }
  if (error instanceof ImageError) return { kind: 'failed', why: error.message, retryable: error.retryable }
  if (error instanceof UnusableCatalog) return { kind: 'failed', why: error.message, retryable: false }
  if (error instanceof GitError) return { kind: 'failed', why: error.message, retryable: true }
  throw error
}
