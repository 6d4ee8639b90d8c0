// Converts failures of registries, images and git to answers. Our own failures stay errors.
import { GitError } from '../../adapters/git/git-error.ts'
import { ImageError } from '../../adapters/image/catalog-publisher.ts'
import { RegistryError } from '../../adapters/registry/registry-error.ts'
import { UnusableCatalogError } from './catalog-files.ts'
import type { PublishResponse } from './publish-protocol.ts'

export function toFailedPublishResponse(error: unknown): Extract<PublishResponse, { kind: 'failed' }> {
  if (error instanceof RegistryError)
    return {
      kind: 'failed',
      why: error.message,
      // Credentials may be fixed without a notification to us, so this is retried.
      retryable: error.retryable,
      ...(error.retryAfter !== undefined && { retryAfter: error.retryAfter }),
    }
  if (error instanceof ImageError) return { kind: 'failed', why: error.message, retryable: error.retryable }
  if (error instanceof UnusableCatalogError) return { kind: 'failed', why: error.message, retryable: false }
  if (error instanceof GitError) return { kind: 'failed', why: error.message, retryable: true }
  throw error
}
