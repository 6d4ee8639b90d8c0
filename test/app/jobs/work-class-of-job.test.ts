import { expect, test } from '@jest/globals'
import { workClassOfJob } from '../../../src/app/jobs/work-class-of-job.ts'

test('what merges goes first; pull requests, pushes and what they lead to next; then the sweep; then scans', () => {
  expect(['train', 'group'].map((kind) => workClassOfJob(kind as 'train'))).toEqual(['landing', 'landing'])
  for (const kind of ['pull', 'branch', 'publish', 'preview', 'trial', undefined] as const)
    expect(workClassOfJob(kind)).toBe('look')
  expect(['sweep', 'release'].map((kind) => workClassOfJob(kind as 'sweep'))).toEqual(['sweep', 'sweep'])
  expect(workClassOfJob('scan')).toBe('scan')
})
