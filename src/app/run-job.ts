// The one place where our own failures are caught: a duty that fails is logged under a trace id, said on the pull
// request if it stays so, and taken again by the queue.
import { randomUUID } from 'node:crypto'
import { ForgeError } from '../github/forge-error.ts'
import { isGitError } from '../git/git-error.ts'
import type { Job } from '../ports/store.ts'
import { examinePull } from './examine-pull.ts'
import { scanRepository } from './scan-repository.ts'
import { sweepRepository } from './sweep.ts'
import { watchBranch } from './watch-branch.ts'
import type { App, Workplace } from './workplace.ts'

export interface JobRunner {
  readonly app: App
  /** The workplace for a repository. Rejects with a ForgeError or GitError when it cannot be reached. */
  readonly openWorkplace: (job: Job) => Promise<Workplace>
  readonly onDone: (job: Job, outcome: 'done' | 'postponed' | 'failed', milliseconds: number) => void
}

/** Seconds until a duty is tried again that GitHub or git could not serve. */
const postponedSeconds = 30

/** Does one duty. Rejects only with our own failures, so that the queue repeats them with back-off. */
export async function runJob(job: Job, { app, openWorkplace, onDone }: JobRunner): Promise<void> {
  const started = performance.now()
  const log = app.log.child({ trace: randomUUID(), ...job })
  try {
    await perform(job, await openWorkplace(job))
    onDone(job, 'done', performance.now() - started)
    log.info({ milliseconds: Math.round(performance.now() - started) }, 'done')
  } catch (error) {
    const world = worldFailure(error)
    onDone(job, world === undefined ? 'failed' : 'postponed', performance.now() - started)
    if (world === undefined) {
      log.error({ err: error }, 'a duty failed; it is taken again')
      throw error
    }
    log.warn({ err: error, again: world.again }, 'the world did not answer; the duty is taken again')
    await app.store.enqueue(job, world.again)
  }
}

async function perform(job: Job, place: Workplace): Promise<void> {
  switch (job.kind) {
    case 'pull':
      return examinePull(job, place)
    case 'branch':
      return watchBranch(job, place)
    case 'sweep':
      return sweepRepository(job, place)
    case 'scan':
      return scanRepository(job, place)
  }
}

/** How long to wait when it is not our failure: GitHub or git did not answer. */
function worldFailure(error: unknown): { again: number } | undefined {
  if (error instanceof ForgeError && error.retryable) return { again: error.retryAfter }
  if (isGitError(error) && (error.retryable || error.code === 'outcome-unknown'))
    return { again: error.code === 'outcome-unknown' ? 2 : postponedSeconds }
  return undefined
}
