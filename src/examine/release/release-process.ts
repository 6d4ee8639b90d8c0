// Reads and renders bundles, templates and catalogs for releases, isolated from the process that answers deliveries. It
// has no secret and uses only git.
import { GitError, isGitError } from '../../git/git-error.ts'
import { openGuestMirrors } from '../../git/guest-mirror.ts'
import { answerOrders } from '../../workers/answer-orders.ts'
import { guardProcess } from '../../workers/guarded-process.ts'
import { TooLarge } from '../looks/look-budget.ts'
import { Unwritable } from './package-at-base.ts'
import type { ReleaseAnswer, ReleaseOrder } from './release-order.ts'
import { workOutRelease } from './work-out-release.ts'

const mirrorAt = openGuestMirrors()

async function workOut(order: ReleaseOrder): Promise<ReleaseAnswer> {
  const repository = await mirrorAt(order.mirror, { mostPaths: order.budget.paths })
  try {
    return await workOutRelease(order, repository)
  } catch (error) {
    if (error instanceof TooLarge || error instanceof Unwritable || isGitError(error, 'too-large'))
      return { kind: 'refused', why: error.message }
    if (error instanceof GitError)
      return { kind: 'git-error', code: error.code, message: error.message, retryable: error.retryable }
    throw error
  }
}

guardProcess()
answerOrders(workOut)
