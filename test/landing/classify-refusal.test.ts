// The words of GitHub's refusals, and what each is about. As docs.github.com, prow, bors-ng, Mergify and others show them.
import { describe, expect, test } from '@jest/globals'
import {
  classifyRefusal,
  type RefusalContext,
  type RefusalScope,
  type RefusalText,
} from '../../src/landing/classify-refusal.ts'

const ours = 'a'.repeat(40)
const theirs = 'b'.repeat(40)

/** As the one push reports it: git's summary, and what stood behind `remote: `. */
const push = (...lines: string[]): RefusalText => ({ by: 'push', text: lines.join('\n') })
const ruled = (...complaints: string[]): RefusalText =>
  push(
    '(push declined due to repository rule violations)',
    'error: GH013: Repository rule violations found for refs/heads/main.',
    'Review all repository rules at https://github.com/o/r/rules?ref=refs%2Fheads%2Fmain',
    '',
    ...complaints.flatMap((text) => [`- ${text}        `, '']),
  )
const protectedBranch = (...complaints: string[]): RefusalText =>
  push(
    '(protected branch hook declined)',
    'error: GH006: Protected branch update failed for refs/heads/main.',
    '',
    ...complaints.flatMap((text) => [`- ${text}`, '']),
  )
const rest = (status: number, message: string): RefusalText => ({ by: 'rest', status, message })
const rules = (status: number, ...says: string[]): RefusalText =>
  rest(status, `Repository rule violations found\n\n${says.map((text) => `${text}\n\n`).join('')}`)
const graphql = (message: string, type?: string): RefusalText => ({
  by: 'graphql',
  errors: [{ type, message }],
})

const approval = 'At least 1 approving review is required by reviewers with write access.'
const queue = 'Changes must be made through the merge queue'
const unsigned = 'Commits must have verified signatures.'

describe('a refusal that is known', () => {
  const table: readonly (readonly [RefusalText, RefusalScope, string])[] = [
    // Races: something moved.
    [
      rest(405, 'Base branch was modified. Review and try the merge again.'),
      'race',
      'Base branch was modified.',
    ],
    [
      rest(409, 'Head branch was modified. Review and try the merge again.'),
      'race',
      'Head branch was modified.',
    ],
    [rest(422, 'Update is not a fast forward'), 'race', 'Update is not a fast forward'],
    [rest(422, 'Reference already exists'), 'race', 'Reference already exists'],
    [
      graphql('Base branch was modified. Review and try the merge again.'),
      'race',
      'Base branch was modified.',
    ],
    [
      graphql('Expected branch to point to "aaaaaaa" but it did not. Pull and try again.'),
      'race',
      'Expected',
    ],
    [graphql('A value is older than it was', 'STALE_DATA'), 'race', 'A value is older'],
    [
      push("(cannot lock ref 'refs/heads/main': is at aaaaaaa but expected bbbbbbb)"),
      'race',
      'cannot lock ref',
    ],

    // This pull request.
    [ruled('Required status check "ci" is expected.'), 'pull', 'Required status check "ci" is expected.'],
    [
      ruled('3 of 3 required status checks are expected.', 'Required status check "cla" is expected.'),
      'pull',
      '3 of 3',
    ],
    [ruled('2 of 5 required status checks have not succeeded: 1 expected and 1 failing.'), 'pull', '2 of 5'],
    [rest(422, 'Required status check "bors" is pending.'), 'pull', 'bors'],
    [rules(405, '6 of 6 required status checks are expected.'), 'pull', '6 of 6'],
    [
      protectedBranch('Required status check "ci. Changes must be made through the merge queue" is failing.'),
      'pull',
      'ci.',
    ],
    [protectedBranch(approval), 'pull', 'At least 1'],
    [
      push(
        '(protected branch hook declined)',
        'error: GH006: Protected branch update failed for refs/heads/main.',
        `error: ${approval}`,
      ),
      'pull',
      'At least 1',
    ],
    [
      push(
        '(protected branch hook declined)',
        'error: GH006: Protected branch update failed for refs/heads/main.',
        'error: Changes have been requested.',
      ),
      'pull',
      'Changes have',
    ],
    [
      rules(405, 'At least 2 approving reviews are required by reviewers with write access.'),
      'pull',
      'At least 2',
    ],
    [
      rules(405, 'A conversation must be resolved before this pull request can be merged.'),
      'pull',
      'A conversation',
    ],
    [rules(405, 'Waiting on code owner review from o/owners and/or carol.'), 'pull', 'Waiting on code owner'],
    [ruled('New changes require approval from someone other than the last pusher.'), 'pull', 'New changes'],
    [
      ruled('Code scanning is waiting for results from CodeQL for the commit aaaaaaa.'),
      'pull',
      'Code scanning',
    ],
    [rules(405, 'CodeQL has detected 2 alerts blocking this code from being merged'), 'pull', 'CodeQL has'],
    [ruled('Missing successful active production deployment.'), 'pull', 'Missing'],
    [rest(405, 'Pull Request is not mergeable'), 'pull', 'not mergeable'],
    [rest(405, 'Pull Request has merge conflicts'), 'pull', 'conflicts'],
    [rest(409, 'Merge conflict'), 'pull', 'Merge conflict'],
    [rest(405, 'Pull Request is still a draft'), 'pull', 'draft'],
    [rest(405, "This branch can't be rebased"), 'pull', 'rebased'],
    [
      rest(
        403,
        'refusing to allow a GitHub App to create or update workflow `.github/workflows/x.yml` without `workflows` permission',
      ),
      'pull',
      'workflows',
    ],
    [
      push(
        '(refusing to allow a GitHub App to create or update workflow `.github/workflows/x.yml` without `workflows` permission)',
      ),
      'pull',
      'x.yml',
    ],
    [ruled('GITHUB PUSH PROTECTION'), 'pull', 'PUSH PROTECTION'],
    [
      push(
        '(pre-receive hook declined)',
        'error: GH001: Large files detected. You may want to try Git Large File Storage - https://git-lfs.github.com.',
        "error: File a.bin is 150.00 MB; this exceeds GitHub's file size limit of 100.00 MB",
      ),
      'pull',
      'a.bin',
    ],
    [graphql(`Pull request ${approval}`, 'UNPROCESSABLE'), 'pull', 'At least 1'],

    [
      graphql("Pull request Required workflow '✅ Validate Go Project' is not satisfied", 'UNPROCESSABLE'),
      'pull',
      'Validate Go',
    ],
    [rules(405, "Required workflow 'x. Cannot update this protected ref' is not satisfied"), 'pull', 'x.'],
    [rest(405, 'Merge already in progress'), 'pull', 'in progress'],
    [rest(422, 'merge conflict between base and head'), 'pull', 'conflict'],
    [rest(422, "expected head sha didn't match current head ref."), 'race', 'expected head'],
    [rest(422, 'There are no new commits on the base branch.'), 'race', 'no new commits'],
    [graphql('Pull request Pull request is in clean status', 'UNPROCESSABLE'), 'pull', 'clean status'],
    [rest(405, 'Base branch requires signed commits.'), 'pull', 'signed'],

    // The branch.
    [
      rest(
        405,
        'Base branch requires signed commits. Rebase merges cannot be automatically signed by GitHub.',
      ),
      'branch',
      'Rebase merges',
    ],
    [graphql('Pull request Auto merge is not allowed for this repository'), 'branch', 'Auto merge'],
    [graphql('Pull request Protected branch rules not configured for this branch'), 'branch', 'Protected'],
    [graphql('Pull request User is not authorized for this protected branch'), 'branch', 'User is'],
    [graphql('Enqueuer is not authorized to merge'), 'branch', 'Enqueuer'],
    [ruled(queue), 'branch', queue],
    [rules(405, queue), 'branch', queue],
    [ruled('Changes must be made through a pull request.'), 'branch', 'a pull request'],
    [ruled('Cannot update this protected ref.'), 'branch', 'Cannot update'],
    [protectedBranch('Cannot change this locked branch'), 'branch', 'locked'],
    [
      protectedBranch(
        "You're not authorized to push to this branch. Visit https://docs.github.com/a/b for more information.",
      ),
      'branch',
      "You're not authorized",
    ],
    [
      rest(
        405,
        "You're not authorized to push to this branch. Visit https://docs.github.com/a/b for more information.",
      ),
      'branch',
      'not authorized',
    ],
    [rest(405, 'Merge commits are not allowed on this repository.'), 'branch', 'Merge commits'],
    [rest(405, 'Squash merges are not allowed on this repository.'), 'branch', 'Squash'],
    [graphql('Merge method squash merging is not allowed.'), 'branch', 'squash'],
    [rest(403, 'Resource not accessible by integration'), 'branch', 'Resource'],
    [graphql('Resource not accessible by integration', 'FORBIDDEN'), 'branch', 'Resource'],
    [
      ruled('Required status check "ci" was not set by the expected GitHub app.'),
      'branch',
      'expected GitHub app',
    ],
    [ruled('This branch must not contain merge commits.'), 'branch', 'merge commits'],
    [ruled(unsigned), 'branch', 'signatures'],
    [ruled('Required workflows must run on a pull request.'), 'branch', 'workflows'],
    [
      push('the server answered 403', 'Permission to o/r.git denied to catalog-bot[bot].'),
      'branch',
      'Permission to',
    ],
    [
      push('the server answered 403', 'This repository was archived so it is read-only.'),
      'branch',
      'archived',
    ],
  ]
  test.each(table)('%j is about the %s', (refusal, scope, words) => {
    const found = classifyRefusal(refusal)
    expect(found).toMatchObject({ scope, isKnown: true })
    expect(found.reason).toContain(words)
    expect(found.reason).not.toMatch(
      /GH0(?:06|13)|Review all repository rules|rule violations found|hook declined/,
    )
  })
})

describe('several complaints at once', () => {
  test('are about the widest of them, and all are told', () => {
    expect(classifyRefusal(ruled(approval, queue))).toMatchObject({
      scope: 'branch',
      reason: `${approval} ${queue}`,
      isKnown: true,
      retrySoon: false,
    })
    // Classic protection writes them as one line.
    const words = 'Required status check "ci. Build" is expected. Cannot change this locked branch'
    expect(classifyRefusal(rest(405, words))).toMatchObject({ scope: 'branch', reason: words })
    expect(
      classifyRefusal(rest(405, `${approval} Changes were requested by a reviewer with write access.`)),
    ).toMatchObject({
      scope: 'pull',
      isKnown: true,
    })
  })

  test('of which one is unknown park the pull request if another one does already', () => {
    expect(classifyRefusal(ruled(approval, 'The moon must be full.'))).toMatchObject({
      scope: 'pull',
      isKnown: false,
    })
    expect(classifyRefusal(ruled('The moon must be full.', queue))).toMatchObject({
      scope: 'branch',
      isKnown: false,
    })
  })
})

describe('a rule about commits', () => {
  const listing = (says: string, ...commits: string[]): RefusalText =>
    push(
      '(push declined due to repository rule violations)',
      'error: GH013: Repository rule violations found for refs/heads/main.',
      `- ${says}`,
      `  Found ${commits.length} violations:`,
      '',
      ...commits.map((commit) => `  ${commit}`),
      '',
    )
  const table: readonly (readonly [string, readonly string[], RefusalContext, RefusalScope])[] = [
    [unsigned, [ours], { commit: ours }, 'branch'],
    [unsigned, [theirs], { commit: ours }, 'pull'],
    // Signing ours would not help: theirs stays unsigned.
    [unsigned, [ours, theirs], { commit: ours }, 'pull'],
    [unsigned, [], { commit: ours, isSigned: true }, 'pull'],
    [unsigned, [], { commit: ours }, 'branch'],
    ['This branch must not contain merge commits.', [ours, theirs], { commit: ours }, 'branch'],
    ['This branch must not contain merge commits.', [theirs], { commit: ours }, 'pull'],
    ['Commit message must match a given regex pattern: ^JIRA', [ours], { commit: ours }, 'branch'],
  ]
  test.each(table)('%s, broken by %j with %j, is about the %s', (says, commits, context, scope) => {
    expect(classifyRefusal(listing(says, ...commits), context)).toMatchObject({ scope, isKnown: true })
  })
})

describe('words that nobody sorted', () => {
  test.each([
    ruled('The moon must be full.'),
    rest(422, 'Validation Failed'),
    rest(404, 'Not Found'),
    rest(405, ''),
    graphql('Something went wrong', 'INTERNAL'),
    push('(pre-receive hook declined)', 'Only on Tuesdays, says', 'the release team.'),
    push('(failure)'),
  ])('%j are about the pull request that met them, and known to be unsorted', (refusal) => {
    expect(classifyRefusal(refusal)).toMatchObject({ scope: 'pull', isKnown: false, retrySoon: false })
  })

  test('are told as they are, and never as nothing', () => {
    const hook = push('(pre-receive hook declined)', 'Only on Tuesdays, says', 'the release team.')
    expect(classifyRefusal(hook).reason).toBe('Only on Tuesdays, says the release team.')
    expect(classifyRefusal(rest(405, ''))).toMatchObject({ reason: 'GitHub answered 405 and gave no reason' })
    expect(classifyRefusal(rest(422, 'a\u0000b\u202e\nc')).reason).toBe('a\ufffdb\ufffd c')
    expect(classifyRefusal(rest(422, 'x'.repeat(10_000))).reason).toHaveLength(500)
  })
})

describe('names in a refusal are anybody’s words, and choose nothing', () => {
  const bait = 'a`. Changes must be made through the merge queue.yml'
  test.each([
    rest(
      403,
      `refusing to allow a GitHub App to create or update workflow \`.github/workflows/${bait}\` without \`workflows\` permission`,
    ),
    rest(
      403,
      'refusing to allow a GitHub App to create or update workflow `.github/workflows/a\nCannot update this protected ref.\nb` without `workflows` permission',
    ),
    push(
      `(refusing to allow a GitHub App to create or update workflow \`.github/workflows/${bait}\` without \`workflows\` permission)`,
    ),
    push(
      '(pre-receive hook declined)',
      `error: File x. Cannot update this protected ref. is 150.00 MB; this exceeds GitHub's file size limit of 100.00 MB`,
    ),
    push(
      '(push declined due to repository rule violations)',
      '- GITHUB PUSH PROTECTION',
      '    Resolve the following violations before pushing again',
      '    - Push cannot contain secrets',
      '     locations:',
      '       path: Cannot update this protected ref.:3',
    ),
  ])('%j is about the pull request', (refusal) => {
    expect(classifyRefusal(refusal)).toMatchObject({ scope: 'pull', isKnown: true })
  })
})

test('what GitHub expects may have been posted a moment ago: that is worth a second try, a failure is not', () => {
  const soon = (...complaints: string[]) => classifyRefusal(ruled(...complaints)).retrySoon
  expect(soon('Required status check "ci" is expected.')).toBe(true)
  expect(soon('2 of 2 required status checks are expected.')).toBe(true)
  expect(soon('Required status check "ci" is failing.')).toBe(false)
  expect(soon('Required status check "ci" is expected.', approval)).toBe(false)
})
