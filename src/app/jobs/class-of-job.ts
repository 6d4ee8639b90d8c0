// How important a job is where GitHub's limit does not allow everything.
import type { WorkClass } from '../../github/budget/work-class.ts'
import type { Job } from '../../ports/jobs.ts'

const classes: Readonly<Record<Job['kind'], WorkClass>> = {
  train: 'landing',
  // GitHub's merge queue gives up on a group that nobody judges.
  group: 'landing',
  pull: 'look',
  branch: 'look',
  publish: 'look',
  preview: 'look',
  trial: 'look',
  // Nobody looks at it while it is made: the pull request that it opens is what people look at.
  release: 'sweep',
  sweep: 'sweep',
  scan: 'scan',
}

/** Of every job there is. */
export const jobKinds = Object.keys(classes) as Job['kind'][]

/** Absent: somebody waits for it at a page or a terminal. */
export const classOfJob = (kind: Job['kind'] | undefined): WorkClass =>
  kind === undefined ? 'look' : classes[kind]
