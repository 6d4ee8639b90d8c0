import { expect, test } from '@jest/globals'
import { getWorkClass } from '../../../src/server/jobs/job-allowance.ts'

test('what merges goes first; pull requests, pushes and what they lead to next; then the sweep; then scans', () => {
  expect(['train', 'group'].map((kind) => getWorkClass(kind as 'train'))).toEqual(['landing', 'landing'])
  for (const kind of ['pull', 'branch', 'publish', 'preview', 'trial', undefined] as const)
    expect(getWorkClass(kind)).toBe('look')
  expect(['sweep', 'release'].map((kind) => getWorkClass(kind as 'sweep'))).toEqual(['sweep', 'sweep'])
  expect(getWorkClass('scan')).toBe('scan')
})
