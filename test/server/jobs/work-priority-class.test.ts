import { expect, test } from '@jest/globals'
import { getWorkPriorityClass } from '../../../src/server/jobs/run-job.ts'

test('merges have the highest priority, then pull requests and pushes, then sweeps, then scans', () => {
  expect(['train', 'group'].map((kind) => getWorkPriorityClass(kind as 'train'))).toEqual([
    'landing',
    'landing',
  ])
  for (const kind of ['pull', 'branch', 'publish', 'preview', 'trial', undefined] as const)
    expect(getWorkPriorityClass(kind)).toBe('look')
  expect(['sweep', 'release'].map((kind) => getWorkPriorityClass(kind as 'sweep'))).toEqual([
    'sweep',
    'sweep',
  ])
  expect(getWorkPriorityClass('scan')).toBe('scan')
})
