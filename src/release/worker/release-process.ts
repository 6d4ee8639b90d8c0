// Reads and renders bundles and catalogs for releases, isolated, without secrets, and only with Git.
import { GitError, isGitError, toGitErrorResponse } from '../../adapters/git/git-error.ts'
import { createReadOnlyMirrorOpener } from '../../adapters/git/mirror.ts'
import { serveWorkerRequests, preventPrototypePollution } from '../../adapters/workers/answer-orders.ts'
import { ChangeTooLargeError } from '../../catalogs/reader-pool.ts'
import type { ReleaseResponse, ReleaseRequest } from './release-pool.ts'
import { computeRelease, UnsafeOverwriteError } from './compute-release.ts'

const openReadOnlyGitMirror = createReadOnlyMirrorOpener()

async function handleReleaseRequest(order: ReleaseRequest): Promise<ReleaseResponse> {
  const repository = await openReadOnlyGitMirror(order.mirror, { maxPaths: order.budget.paths })
  try {
    return await computeRelease(order, repository)
  } catch (error) {
    if (
      error instanceof ChangeTooLargeError ||
      error instanceof UnsafeOverwriteError ||
      isGitError(error, 'too-large')
    )
      return { kind: 'refused', why: error.message }
    if (error instanceof GitError) return toGitErrorResponse(error)
    throw error
  }
}

preventPrototypePollution()
serveWorkerRequests(handleReleaseRequest)
