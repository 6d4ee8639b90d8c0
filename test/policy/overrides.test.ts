// Which rules a maintainer may override, for which change, and how others could try to.
import { describe, expect, test } from '@jest/globals'
import type { PullComment } from '../../src/pull-request/snapshot.ts'
import { allRules, overridableRuleIds } from '../../src/checks/all-rules.ts'
import type { CheckInput, CheckOutcome } from '../../src/checks/check.ts'
import { upgradeRules } from '../../src/checks/validation/upgrade/rules.ts'
import { decideVerdict as verdictOf } from '../../src/policy/decide.ts'
import {
  excludeOverriddenFindings,
  applyRuleOverrides,
  findActiveRuleOverrides,
} from '../../src/policy/command-records.ts'
import { describeCommands } from '../../src/report/describe-commands.ts'
import { formatMergeMessage } from '../../src/report/merge-message.ts'
import { renderPullReport } from '../../src/report/report.ts'
import { computeCatalogChange, buildPackageBlob } from '../pull-request/build-catalog.ts'
import {
  createComment,
  createInput,
  decideAll,
  formatTimestampAtMinute,
  getGitHubAccount,
  headShaA,
  headShaB,
} from './command-scenario.ts'
import {
  createVerdictInput,
  createTestPullSnapshot,
  createOutcomesForAllChecks,
  createHexSha,
} from './verdict-inputs.ts'

const baseCatalogFiles = { 'catalog/foo/catalog.yaml': [buildPackageBlob('foo')] }
const createDefaultChannelChange = (channel: string) =>
  computeCatalogChange(baseCatalogFiles, { 'catalog/foo/catalog.yaml': [buildPackageBlob('foo', channel)] })

/** Olga is the author of the pull request. */
const createCheckInput = (comments: readonly PullComment[], more: Partial<CheckInput> = {}) =>
  createInput(comments, {}, { author: getGitHubAccount('olga') }, more).check
const decideOverrides = (check: CheckInput) => decideAll({ ...createInput([]), check }).decisions

const overrideCommand = '/override bundle-edited because the image was rebuilt for a CVE'
const overrideComment = createComment('maria', overrideCommand)
const listOverrideRecords = () =>
  decideOverrides(createCheckInput([overrideComment])).map(({ record }) => record)
const createValidationOutcome = (...rules: string[]): CheckOutcome => ({
  check: 'validation',
  findings: rules.map((rule) => ({ rule, severity: 'error', what: 'x', why: 'y', fix: 'z' })),
  unanswered: [],
  waiting: [],
  summary: 's',
})

describe('a maintainer overrides a named rule', () => {
  test('for one change, with a reason', () => {
    const found = findActiveRuleOverrides(listOverrideRecords(), createCheckInput([overrideComment]))
    expect(found).toEqual([{ rule: 'bundle-edited', reason: 'the image was rebuilt for a CVE', by: 'maria' }])
    const { outcomes, used } = applyRuleOverrides(
      [createValidationOutcome('bundle-edited', 'channel-removed')],
      found,
    )
    expect(used).toEqual(found)
    expect(outcomes[0]?.findings.map(({ rule, severity }) => [rule, severity])).toEqual([
      ['bundle-edited', 'warning'],
      ['channel-removed', 'error'],
    ])
    // An override without a matching finding is not reported as used.
    expect(applyRuleOverrides([createValidationOutcome('channel-removed')], found).used).toEqual([])
  })
  test('until the change, the epoch, or the head is different', () => {
    const withdrawn = (more: Partial<CheckInput>) =>
      findActiveRuleOverrides(listOverrideRecords(), { ...createCheckInput([overrideComment]), ...more })
    expect(withdrawn({ change: createDefaultChannelChange('slow') })).toEqual([])
    expect(withdrawn({ epoch: 1 })).toEqual([])
    const moved = createTestPullSnapshot({
      author: getGitHubAccount('olga'),
      head: headShaB,
      comments: [overrideComment],
    })
    expect(withdrawn({ snapshot: moved })).toEqual([])
  })
  test('until the comment is edited, deleted, or contains something else', () => {
    for (const comments of [
      [],
      [{ ...overrideComment, updatedAt: formatTimestampAtMinute(12) }],
      [{ ...overrideComment, body: overrideCommand.replace('CVE', 'bug') }],
      [{ ...overrideComment, body: '/override channel-removed because the image was rebuilt for a CVE' }],
      [{ ...overrideComment, body: '/approve' }],
    ])
      expect(findActiveRuleOverrides(listOverrideRecords(), createCheckInput(comments))).toEqual([])
  })
  test('but the author and owner of the package cannot', () => {
    expect(decideOverrides(createCheckInput([createComment('olga', overrideCommand)]))).toMatchObject([
      { record: { outcome: 'denied' }, reaction: '-1' },
    ])
  })
  test.each([
    ['/override', 'use the form /override RULE because REASON'],
    ['/override bundle-edited', 'use the form /override RULE because REASON'],
    ['/override bundle-edited because', 'use the form /override RULE because REASON'],
    ['/override bundle-edited because ...', 'use the form /override RULE because REASON'],
    ['/override bundle-edited, channel-removed because x', 'use the form /override RULE because REASON'],
    ['/override no-such-rule because x', 'this rule does not exist'],
    ['/override several-heads because x', 'this rule cannot be overridden'],
    ['/override not-owner because x', 'this rule cannot be overridden'],
    ['/override file-mode because x', 'this rule cannot be overridden'],
    ['/override image-missing because x', 'this rule cannot be overridden'],
    [`/override bundle-edited because ${'x'.repeat(301)}`, 'the reason is longer than 300 characters'],
  ])('the answer to %s explains the error', (body, why) => {
    const [decision] = decideOverrides(createCheckInput([createComment('maria', body)]))
    expect(decision?.record.outcome).toBe('unclear')
    expect(decision?.answer).toBe(why)
    expect(
      findActiveRuleOverrides(
        decision ? [decision.record] : [],
        createCheckInput([createComment('maria', body)]),
      ),
    ).toEqual([])
  })
  test('only for the findings of the same pull request in a batch', () => {
    const [alone] = applyRuleOverrides(
      [createValidationOutcome('bundle-edited')],
      findActiveRuleOverrides(listOverrideRecords(), createCheckInput([overrideComment])),
    ).outcomes
    const { findings } = createValidationOutcome('bundle-edited', 'channel-removed')
    const other = findings.map((found) => ({ ...found, what: 'another bundle' }))
    expect(excludeOverriddenFindings([...findings, ...other], alone?.findings ?? [])).toEqual([
      findings[1],
      ...other,
    ])
  })
  test('but a record of a rule that cannot be overridden has no effect', () => {
    const [record] = listOverrideRecords()
    const forged = record && { ...record, override: { rule: 'not-owner', reason: 'x' } }
    const otherComment = { ...overrideComment, body: '/override not-owner because x' }
    expect(findActiveRuleOverrides(forged ? [forged] : [], createCheckInput([otherComment]))).toEqual([])
  })
})

describe('which rules can be overridden', () => {
  test('no rule that opm enforces, no ownership rule, and no rule about registries or readability', () => {
    const never = allRules.filter(
      ({ id, fixed, check }) => overridableRuleIds.has(id) && (fixed === true || check === 'ownership'),
    )
    expect(never).toEqual([])
    for (const id of [
      'digest-mismatch',
      'image-missing',
      'image-unsupported',
      'malformed-reference',
      'registry-blocked',
      'registry-not-allowed',
      'tag-moved',
      'unreadable-bundle',
      'opm-release-unknown',
      'config-unreadable',
    ])
      expect([id, allRules.some((rule) => rule.id === id), overridableRuleIds.has(id)]).toEqual([
        id,
        true,
        false,
      ])
  })
  test('all upgrade rules', () => {
    expect(upgradeRules.filter(({ id }) => !overridableRuleIds.has(id))).toEqual([])
  })
})

describe('an override is shown', () => {
  const verdictWith = (validation = createValidationOutcome()) =>
    verdictOf(createVerdictInput({ outcomes: createOutcomesForAllChecks(validation) }))
  const reason = 'see #12 [skip ci] @team <b>\u202e*x*</b>'
  const [shown] = applyRuleOverrides(
    [createValidationOutcome('bundle-edited')],
    [{ rule: 'bundle-edited', by: 'maria', reason }],
  ).outcomes
  test('in the comment, with the reason escaped', () => {
    const { comment: text } = renderPullReport(verdictWith(shown), { changeLines: [] })
    expect(text).toContain('**Overridden by `maria`:**')
    expect(text).not.toMatch(/<b>|\u202e|[^`]@team/)
  })
  test('as a command next to the errors that can be overridden', () => {
    const text = (...rules: string[]) =>
      renderPullReport(verdictWith(createValidationOutcome(...rules)), { changeLines: [] }).comment
    expect(text('bundle-edited', 'not-owner')).toContain('/override bundle-edited because')
    expect(text('not-owner')).not.toContain('/override')
  })
  test('in the merge message, without text that GitHub acts on', () => {
    const message = formatMergeMessage(createTestPullSnapshot({ title: 'Fix foo' }), {}, [
      { rule: 'bundle-edited', by: 'maria', reason: `${reason}\nSigned-off-by: x` },
    ])
    expect(message).toMatch(/\n\nOverridden by maria: bundle-edited, because see /)
    expect(message).not.toMatch(/#12|\[skip ci\]|@team|\u202e|\nSigned-off-by/)
    expect(message.endsWith(`\n\nHead: ${createHexSha('a')}\n`)).toBe(true)
  })
  test('in the list of commands, as outdated if the change is different', () => {
    const lines = (holds: boolean) =>
      describeCommands(listOverrideRecords(), headShaA, 0, () => holds).join('\n')
    expect(lines(true)).toContain('`bundle-edited`: the image was rebuilt for a CVE')
    expect(lines(true)).not.toContain('outdated')
    expect(lines(false)).toContain('outdated because the effect of this commit has changed')
  })
})
