// GitHub's rejection messages and the scope of each, as shown by docs.github.com, prow, bors-ng, Mergify, and others.
import { describe, expect, test } from '@jest/globals'
import {
  classifyRejection,
  type MergeRejectionContext,
  type MergeRejectionScope,
  type MergeRejectionResponse,
} from '../../src/merge/classify-rejection.ts'

const pushedCommitSha = 'a'.repeat(40)
const unrelatedCommitSha = 'b'.repeat(40)

// Rejections, by their sender. A push reports git's summary, and the text after `remote: `.
const byPush = (...lines: string[]): MergeRejectionResponse => ({ by: 'push', text: lines.join('\n') })
const byRuleset = (...violations: string[]): MergeRejectionResponse =>
  byPush(
    '(push declined due to repository rule violations)',
    'error: GH013: Repository rule violations found for refs/heads/main.',
    'Review all repository rules at https://github.com/o/r/rules?ref=refs%2Fheads%2Fmain',
    '',
    ...violations.flatMap((text) => [`- ${text}        `, '']),
  )
const byProtection = (...violations: string[]): MergeRejectionResponse =>
  byPush(
    '(protected branch hook declined)',
    'error: GH006: Protected branch update failed for refs/heads/main.',
    '',
    ...violations.flatMap((text) => [`- ${text}`, '']),
  )
const byRest = (status: number, message: string): MergeRejectionResponse => ({ by: 'rest', status, message })
const byRestRules = (status: number, ...violations: string[]): MergeRejectionResponse =>
  byRest(status, `Repository rule violations found\n\n${violations.map((text) => `${text}\n\n`).join('')}`)
const byGraphql = (message: string, type?: string): MergeRejectionResponse => ({
  by: 'graphql',
  errors: [{ type, message }],
})

const approvalRequiredMessage = 'At least 1 approving review is required by reviewers with write access.'
const mergeQueueRequiredMessage = 'Changes must be made through the merge queue'
const signatureRequiredMessage = 'Commits must have verified signatures.'

describe('a known rejection', () => {
  /** Rejections and the words that their report must have. */
  const rejections: Record<
    'race' | 'pull' | 'branch',
    readonly (readonly [MergeRejectionResponse, string])[]
  > = {
    race: [
      [byRest(405, 'Base branch was modified. Review and try the merge again.'), 'Base branch was modified.'],
      [byRest(409, 'Head branch was modified. Review and try the merge again.'), 'Head branch was modified.'],
      [byRest(422, 'Update is not a fast forward'), 'Update is not a fast forward'],
      [byRest(422, 'Reference already exists'), 'Reference already exists'],
      [byGraphql('Base branch was modified. Review and try the merge again.'), 'Base branch was modified.'],
      [byGraphql('Expected branch to point to "aaaaaaa" but it did not. Pull and try again.'), 'Expected'],
      [byGraphql('A value is older than it was', 'STALE_DATA'), 'A value is older'],
      [byPush("(cannot lock ref 'refs/heads/main': is at aaaaaaa but expected bbbbbbb)"), 'cannot lock ref'],
      [byRest(422, "expected head sha didn't match current head ref."), 'expected head'],
      [byRest(422, 'There are no new commits on the base branch.'), 'no new commits'],
    ],
    pull: [
      [byRuleset('Required status check "ci" is expected.'), 'Required status check "ci" is expected.'],
      [
        byRuleset('3 of 3 required status checks are expected.', 'Required status check "cla" is expected.'),
        '3 of 3',
      ],
      [byRuleset('2 of 5 required status checks have not succeeded: 1 expected and 1 failing.'), '2 of 5'],
      [byRest(422, 'Required status check "bors" is pending.'), 'bors'],
      [byRestRules(405, '6 of 6 required status checks are expected.'), '6 of 6'],
      [
        byProtection('Required status check "ci. Changes must be made through the merge queue" is failing.'),
        'ci.',
      ],
      [byProtection(approvalRequiredMessage), 'At least 1'],
      [
        byPush(
          '(protected branch hook declined)',
          'error: GH006: Protected branch update failed for refs/heads/main.',
          `error: ${approvalRequiredMessage}`,
        ),
        'At least 1',
      ],
      [
        byPush(
          '(protected branch hook declined)',
          'error: GH006: Protected branch update failed for refs/heads/main.',
          'error: Changes have been requested.',
        ),
        'Changes have',
      ],
      [
        byRestRules(405, 'At least 2 approving reviews are required by reviewers with write access.'),
        'At least 2',
      ],
      [
        byRestRules(405, 'A conversation must be resolved before this pull request can be merged.'),
        'A conversation',
      ],
      [byRestRules(405, 'Waiting on code owner review from o/owners and/or carol.'), 'Waiting on code owner'],
      [byRuleset('New changes require approval from someone other than the last pusher.'), 'New changes'],
      [
        byRuleset('Code scanning is waiting for results from CodeQL for the commit aaaaaaa.'),
        'Code scanning',
      ],
      [byRestRules(405, 'CodeQL has detected 2 alerts blocking this code from being merged'), 'CodeQL has'],
      [byRuleset('Missing successful active production deployment.'), 'Missing'],
      [byRest(405, 'Pull Request is not mergeable'), 'not mergeable'],
      [byRest(405, 'Pull Request has merge conflicts'), 'conflicts'],
      [byRest(409, 'Merge conflict'), 'Merge conflict'],
      [byRest(405, 'Pull Request is still a draft'), 'draft'],
      [byRest(405, "This branch can't be rebased"), 'rebased'],
      [
        byRest(
          403,
          'refusing to allow a GitHub App to create or update workflow `.github/workflows/x.yml` without `workflows` permission',
        ),
        'workflows',
      ],
      [
        byPush(
          '(refusing to allow a GitHub App to create or update workflow `.github/workflows/x.yml` without `workflows` permission)',
        ),
        'x.yml',
      ],
      [byRuleset('GITHUB PUSH PROTECTION'), 'PUSH PROTECTION'],
      [
        byPush(
          '(pre-receive hook declined)',
          'error: GH001: Large files detected. You may want to try Git Large File Storage - https://git-lfs.github.com.',
          "error: File a.bin is 150.00 MB; this exceeds GitHub's file size limit of 100.00 MB",
        ),
        'a.bin',
      ],
      [byGraphql(`Pull request ${approvalRequiredMessage}`, 'UNPROCESSABLE'), 'At least 1'],
      [
        byGraphql(
          "Pull request Required workflow '✅ Validate Go Project' is not satisfied",
          'UNPROCESSABLE',
        ),
        'Validate Go',
      ],
      [byRestRules(405, "Required workflow 'x. Cannot update this protected ref' is not satisfied"), 'x.'],
      [byRest(405, 'Merge already in progress'), 'in progress'],
      [byRest(422, 'merge conflict between base and head'), 'conflict'],
      [byGraphql('Pull request Pull request is in clean status', 'UNPROCESSABLE'), 'clean status'],
      [byRest(405, 'Base branch requires signed commits.'), 'signed'],
    ],
    branch: [
      [
        byRest(
          405,
          'Base branch requires signed commits. Rebase merges cannot be automatically signed by GitHub.',
        ),
        'Rebase merges',
      ],
      [byGraphql('Pull request Auto merge is not allowed for this repository'), 'Auto merge'],
      [byGraphql('Pull request Protected branch rules not configured for this branch'), 'Protected'],
      [byGraphql('Pull request User is not authorized for this protected branch'), 'User is'],
      [byGraphql('Enqueuer is not authorized to merge'), 'Enqueuer'],
      [byRuleset(mergeQueueRequiredMessage), mergeQueueRequiredMessage],
      [byRestRules(405, mergeQueueRequiredMessage), mergeQueueRequiredMessage],
      [byRuleset('Changes must be made through a pull request.'), 'a pull request'],
      [byRuleset('Cannot update this protected ref.'), 'Cannot update'],
      [byProtection('Cannot change this locked branch'), 'locked'],
      [
        byProtection(
          "You're not authorized to push to this branch. Visit https://docs.github.com/a/b for more information.",
        ),
        "You're not authorized",
      ],
      [
        byRest(
          405,
          "You're not authorized to push to this branch. Visit https://docs.github.com/a/b for more information.",
        ),
        'not authorized',
      ],
      [byRest(405, 'Merge commits are not allowed on this repository.'), 'Merge commits'],
      [byRest(405, 'Squash merges are not allowed on this repository.'), 'Squash'],
      [byGraphql('Merge method squash merging is not allowed.'), 'squash'],
      [byRest(403, 'Resource not accessible by integration'), 'Resource'],
      [byGraphql('Resource not accessible by integration', 'FORBIDDEN'), 'Resource'],
      [
        byRuleset('Required status check "ci" was not set by the expected GitHub app.'),
        'expected GitHub app',
      ],
      [byRuleset('This branch must not contain merge commits.'), 'merge commits'],
      [byRuleset(signatureRequiredMessage), 'signatures'],
      [byRuleset('Required workflows must run on a pull request.'), 'workflows'],
      [
        byPush('the server returned HTTP 403', 'Permission to o/r.git denied to catalog-bot[bot].'),
        'Permission to',
      ],
      [
        byPush('the server returned HTTP 403', 'This repository was archived so it is read-only.'),
        'archived',
      ],
    ],
  }
  const table = Object.entries(rejections).flatMap(([scope, rows]) =>
    rows.map(([rejection, text]) => [rejection, scope, text] as const),
  )
  test.each(table)('%j is about the %s', (rejection, scope, text) => {
    const found = classifyRejection(rejection)
    expect(found).toMatchObject({ scope, isKnown: true })
    expect(found.reason).toContain(text)
    expect(found.reason).not.toMatch(
      /GH0(?:06|13)|Review all repository rules|rule violations found|hook declined/,
    )
  })
})

describe('several reasons at once', () => {
  test('have the widest scope, and all are reported', () => {
    expect(classifyRejection(byRuleset(approvalRequiredMessage, mergeQueueRequiredMessage))).toMatchObject({
      scope: 'branch',
      reason: `${approvalRequiredMessage} ${mergeQueueRequiredMessage}`,
      isKnown: true,
      retrySoon: false,
    })
    // Classic protection writes them as one line.
    const combinedMessage = 'Required status check "ci. Build" is expected. Cannot change this locked branch'
    expect(classifyRejection(byRest(405, combinedMessage))).toMatchObject({
      scope: 'branch',
      reason: combinedMessage,
    })
    expect(
      classifyRejection(
        byRest(405, `${approvalRequiredMessage} Changes were requested by a reviewer with write access.`),
      ),
    ).toMatchObject({ scope: 'pull', isKnown: true })
  })

  test('with an unknown one have the scope of the known one', () => {
    expect(classifyRejection(byRuleset(approvalRequiredMessage, 'The moon must be full.'))).toMatchObject({
      scope: 'pull',
      isKnown: false,
    })
    expect(classifyRejection(byRuleset('The moon must be full.', mergeQueueRequiredMessage))).toMatchObject({
      scope: 'branch',
      isKnown: false,
    })
  })
})

describe('a rule about commits', () => {
  const listing = (says: string, ...commits: string[]): MergeRejectionResponse =>
    byPush(
      '(push declined due to repository rule violations)',
      'error: GH013: Repository rule violations found for refs/heads/main.',
      `- ${says}`,
      `  Found ${commits.length} violations:`,
      '',
      ...commits.map((commit) => `  ${commit}`),
      '',
    )
  const table: readonly (readonly [string, readonly string[], MergeRejectionContext, MergeRejectionScope])[] =
    [
      [signatureRequiredMessage, [pushedCommitSha], { commit: pushedCommitSha }, 'branch'],
      [signatureRequiredMessage, [unrelatedCommitSha], { commit: pushedCommitSha }, 'pull'],
      // Signing our commit would not help: the other one stays unsigned.
      [signatureRequiredMessage, [pushedCommitSha, unrelatedCommitSha], { commit: pushedCommitSha }, 'pull'],
      [signatureRequiredMessage, [], { commit: pushedCommitSha, isSigned: true }, 'pull'],
      [signatureRequiredMessage, [], { commit: pushedCommitSha }, 'branch'],
      [
        'This branch must not contain merge commits.',
        [pushedCommitSha, unrelatedCommitSha],
        { commit: pushedCommitSha },
        'branch',
      ],
      [
        'This branch must not contain merge commits.',
        [unrelatedCommitSha],
        { commit: pushedCommitSha },
        'pull',
      ],
      [
        'Commit message must match a given regex pattern: ^JIRA',
        [pushedCommitSha],
        { commit: pushedCommitSha },
        'branch',
      ],
    ]
  test.each(table)('%s, violated by %j with %j, is about the %s', (says, commits, context, scope) => {
    expect(classifyRejection(listing(says, ...commits), context)).toMatchObject({ scope, isKnown: true })
  })
})

describe('an unknown message', () => {
  test.each([
    byRuleset('The moon must be full.'),
    byRest(422, 'Validation Failed'),
    byRest(404, 'Not Found'),
    byRest(405, ''),
    byGraphql('Something went wrong', 'INTERNAL'),
    byPush('(pre-receive hook declined)', 'Only on Tuesdays, says', 'the release team.'),
    byPush('(failure)'),
  ])('%j is about the pull request and reported as unknown', (rejection) => {
    expect(classifyRejection(rejection)).toMatchObject({ scope: 'pull', isKnown: false, retrySoon: false })
  })

  test('is reported as sanitized text, and is never empty', () => {
    const hook = byPush('(pre-receive hook declined)', 'Only on Tuesdays, says', 'the release team.')
    expect(classifyRejection(hook).reason).toBe('Only on Tuesdays, says the release team.')
    expect(classifyRejection(byRest(405, ''))).toMatchObject({
      reason: 'GitHub returned HTTP 405 without a reason',
    })
    expect(classifyRejection(byRest(422, 'a\u0000b\u202e\nc')).reason).toBe('a\ufffdb\ufffd c')
    expect(classifyRejection(byRest(422, 'x'.repeat(10_000))).reason).toHaveLength(500)
  })
})

describe('names in a rejection are untrusted and do not affect its scope', () => {
  const bait = 'a`. Changes must be made through the merge queue.yml'
  test.each([
    byRest(
      403,
      `refusing to allow a GitHub App to create or update workflow \`.github/workflows/${bait}\` without \`workflows\` permission`,
    ),
    byRest(
      403,
      'refusing to allow a GitHub App to create or update workflow `.github/workflows/a\nCannot update this protected ref.\nb` without `workflows` permission',
    ),
    byPush(
      `(refusing to allow a GitHub App to create or update workflow \`.github/workflows/${bait}\` without \`workflows\` permission)`,
    ),
    byPush(
      '(pre-receive hook declined)',
      `error: File x. Cannot update this protected ref. is 150.00 MB; this exceeds GitHub's file size limit of 100.00 MB`,
    ),
    byPush(
      '(push declined due to repository rule violations)',
      '- GITHUB PUSH PROTECTION',
      '    Resolve the following violations before pushing again',
      '    - Push cannot contain secrets',
      '     locations:',
      '       path: Cannot update this protected ref.:3',
    ),
  ])('%j is about the pull request', (rejection) => {
    expect(classifyRejection(rejection)).toMatchObject({ scope: 'pull', isKnown: true })
  })
})

test('a rejection that only expects checks is retried soon, but one with a failed check is not', () => {
  const soon = (...violations: string[]) => classifyRejection(byRuleset(...violations)).retrySoon
  expect(soon('Required status check "ci" is expected.')).toBe(true)
  expect(soon('2 of 2 required status checks are expected.')).toBe(true)
  expect(soon('Required status check "ci" is failing.')).toBe(false)
  expect(soon('Required status check "ci" is expected.', approvalRequiredMessage)).toBe(false)
})
