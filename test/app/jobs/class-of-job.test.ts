import { expect, test } from '@jest/globals'
import { classOfJob } from '../../../src/app/jobs/class-of-job.ts'

test('what merges goes first; pull requests, pushes and what they lead to next; then the sweep; then scans', () => {
  expect(['train', 'group'].map((kind) => classOfJob(kind as 'train'))).toEqual(['landing', 'landing'])
  for (const kind of ['pull', 'branch', 'publish', 'preview', 'trial', undefined] as const)
    expect(classOfJob(kind)).toBe('look')
  expect(['sweep', 'release'].map((kind) => classOfJob(kind as 'sweep'))).toEqual(['sweep', 'sweep'])
  expect(classOfJob('scan')).toBe('scan')
})
