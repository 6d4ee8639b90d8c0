// Job priorities under GitHub's rate limit.
import type { WorkClass } from '../../adapters/github/budget/request-limits.ts'
import type { Job } from '../../ports/jobs.ts'

const workClassByJobKind: Readonly<Record<Job['kind'], WorkClass>> = {
  train: 'landing',
  // GitHub's merge queue drops a group that gets no verdict.
  group: 'landing',
  pull: 'look',
  branch: 'look',
  publish: 'look',
  preview: 'look',
  trial: 'look',
  // People look at the pull request it opens, not at this job.
  release: 'sweep',
  sweep: 'sweep',
  scan: 'scan',
}

export const jobKinds = Object.keys(workClassByJobKind) as Job['kind'][]

/** Without a kind, a person waits at a page or a terminal. */
export const getWorkClass = (kind: Job['kind'] | undefined): WorkClass =>
  kind === undefined ? 'look' : workClassByJobKind[kind]
