import { describe, expect, test } from '@jest/globals'
import { toCommitSha, toUserId } from '../../src/pull-request/ids.ts'
import type { CommandRecord } from '../../src/policy/command-records.ts'
import { describeCommands } from '../../src/report/describe-commands.ts'

const headCommitSha = toCommitSha('a'.repeat(40))
const createCommandRecord = (differences: Partial<CommandRecord>): CommandRecord => ({
  comment: 1,
  command: 'approve',
  user: toUserId(7),
  login: 'alice',
  outcome: 'done',
  head: headCommitSha,
  baseRef: 'main',
  epoch: 0,
  ...differences,
})
const describeSingleCommand = (differences: Partial<CommandRecord>, isCurrent = true) =>
  describeCommands([createCommandRecord(differences)], headCommitSha, 0, () => isCurrent).join('\n')

describe('a command that was not executed', () => {
  test.each([
    ['thaw', '- `alice` cannot use `/unfreeze`: only maintainers can.'],
    [
      'unhold',
      '- `alice` cannot use `/unhold`: only maintainers and the person who put the pull request on hold can.',
    ],
    [
      'recheck',
      '- `alice` cannot use `/recheck`: only the author, owners of the changed packages, and maintainers can.',
    ],
    ['approve', '- `alice` cannot use `/approve`: only owners of the changed packages and maintainers can.'],
  ] as const)('names who can use /%s', (command, line) => {
    expect(describeSingleCommand({ command, outcome: 'denied' })).toBe(line)
  })
  test('for an earlier state explains how to repeat it', () => {
    expect(describeSingleCommand({ outcome: 'stale' })).toBe(
      '- `/approve` by `alice` was ignored because it refers to an earlier state of this pull request. Comment again to apply it to the current commit.',
    )
  })
})

test('an approval of another effect is outdated, a freeze names its branch and reason', () => {
  expect(describeSingleCommand({}, false)).toContain(
    '(outdated because the effect of this commit has changed;',
  )
  expect(
    describeSingleCommand({
      command: 'freeze',
      stop: { branch: 'main', reason: 'release day', kinds: ['frozen'] },
    }),
  ).toBe('- `alice` froze merging into `main`: release day')
  expect(describeSingleCommand({ command: 'thaw', stop: { reason: '', kinds: ['audit'] } })).toBe(
    '- `alice` unfroze merging into all branches, including the freeze after the failed merge verification',
  )
})

test('a request for help lists every command, /unfreeze among them', () => {
  const text = describeSingleCommand({ command: 'help' })
  for (const command of [
    '/approve',
    '/hold',
    '/unhold',
    '/recheck',
    '/merge',
    '/preview',
    '/test-install',
    '/override',
    '/freeze',
    '/unfreeze',
    '/rollback',
  ])
    expect(text).toContain(`\`${command}`)
})
