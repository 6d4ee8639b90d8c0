// Permissions for reading the rules of a branch, and rulesets that administrators import through the REST API.
import { describe, expect, test } from '@jest/globals'
import type { Octokit } from '@octokit/rest'
import { MergeRulesFixture, createStatusChecksRule, createPullRequestRule } from './merge-rules-fixture.ts'
import type { BranchRulesScenario } from './merge-rules-fixture.ts'

const { githubFixture, openMergeCase, pushMerge, createAppBypass, captureError } =
  await MergeRulesFixture.furnish()

const { github, installation, octokit } = githubFixture
const adminClient = githubFixture.client(github.tokenFor('maintainer'))

const getMainBranchParams = ({
  name,
}: BranchRulesScenario): { owner: string; repo: string; branch: string } => ({ ...name, branch: 'main' })

describe('rulesets', () => {
  test('are imported as JSON, and their rules are in force at once', async () => {
    const it = await openMergeCase()
    const checks = [{ context: 'catalog-bot / validation', integration_id: githubFixture.app.id }]
    const { data } = await adminClient.rest.repos.createRepoRuleset({
      ...it.name,
      name: 'Checks bind everyone',
      target: 'branch',
      enforcement: 'active',
      conditions: { ref_name: { include: ['~DEFAULT_BRANCH'], exclude: [] } },
      rules: [
        { type: 'deletion' },
        {
          type: 'required_status_checks',
          parameters: { strict_required_status_checks_policy: false, required_status_checks: checks },
        },
      ],
    })
    expect(await pushMerge(it)).toMatchObject({ accepted: false })
    const { data: rules } = await octokit.rest.repos.getBranchRules(getMainBranchParams(it))
    expect(rules).toMatchObject([
      { type: 'deletion', ruleset_id: data.id, ruleset_source: it.full, ruleset_source_type: 'Repository' },
      { type: 'required_status_checks', parameters: { required_status_checks: checks } },
    ])
    await adminClient.rest.repos.deleteRepoRuleset({ ...it.name, ruleset_id: data.id })
    expect((await octokit.rest.repos.getBranchRules(getMainBranchParams(it))).data).toEqual([])
    expect(await pushMerge(it)).toMatchObject({ accepted: true })
  })

  test('can be created only by administrators', async () => {
    const it = await openMergeCase()
    const request = { ...it.name, name: 'x', enforcement: 'active' as const }
    const bob = githubFixture.client(github.tokenFor('bob'))
    await expect(bob.rest.repos.createRepoRuleset(request)).rejects.toMatchObject({ status: 403 })
    await expect(octokit.rest.repos.createRepoRuleset(request)).rejects.toMatchObject({ status: 403 })
  })

  test('show their bypass list to administrators, and to others only whether they can bypass', async () => {
    const it = await openMergeCase()
    const app = createAppBypass('pull_request')
    const { id } = github.addRules(it.full, [{ type: 'update' }], { bypass_actors: [app] })
    const read = { ...it.name, ruleset_id: id }
    const { data } = await octokit.rest.repos.getRepoRuleset(read)
    expect(data).not.toHaveProperty('bypass_actors')
    expect(data.current_user_can_bypass).toBe('pull_requests_only')
    const { data: seen } = await adminClient.rest.repos.getRepoRuleset(read)
    expect(seen).toMatchObject({ bypass_actors: [app], current_user_can_bypass: 'never' })
    const { data: list } = await octokit.rest.repos.getRepoRulesets(it.name)
    expect(list).toMatchObject([{ id, enforcement: 'active' }])
    expect(list[0]).not.toHaveProperty('rules')
  })

  test("of a user's repository cannot let an app bypass them", async () => {
    const it = await openMergeCase({ owner: 'bob' })
    const bob = githubFixture.client(github.tokenFor('bob'))
    const request = bob.rest.repos.createRepoRuleset({
      ...it.name,
      name: 'x',
      enforcement: 'active',
      bypass_actors: [createAppBypass('always')],
    })
    expect(await captureError(request)).toMatchObject({ status: 422 })
  })

  test('that the sandbox does not enforce are rejected', async () => {
    const it = await openMergeCase()
    const rule = { type: 'tag_name_pattern', parameters: { operator: 'contains', pattern: 'x' } }
    expect(() => github.addRules(it.full, [rule])).toThrow('Validation Failed')
    expect(() => github.addRules(it.full, [{ type: 'pull_request' }])).toThrow('Validation Failed')
  })

  test.each([
    ['RepositoryRole', 5, 'maintainer'],
    ['OrganizationAdmin', 1, 'maintainer'],
    ['User', undefined, 'bob'],
    ['RepositoryRole', 4, 'bob'],
  ] as const)('do not apply to a %s in the bypass list', async (actor_type, role, login) => {
    const it = await openMergeCase()
    const actor_id = role ?? github.account(login).id
    const actor = { actor_type, actor_id, bypass_mode: 'always' } as const
    github.addRules(it.full, [{ type: 'update' }], { bypass_actors: [actor] })
    expect(await pushMerge(it)).toMatchObject({ accepted: false })
    expect(await pushMerge(it, github.tokenFor(login))).toMatchObject({ accepted: true })
  })
})

describe('a branch', () => {
  test('is protected by rulesets and by classic protection, and only the latter has a summary', async () => {
    const it = await openMergeCase()
    const read = async (): Promise<unknown> =>
      (await octokit.rest.repos.getBranch(getMainBranchParams(it))).data
    const off = {
      enabled: false,
      required_status_checks: { enforcement_level: 'off', contexts: [], checks: [] },
    }
    expect(await read()).toMatchObject({ protected: false, protection: off })
    const ruleset = github.addRules(it.full, [createStatusChecksRule([{ context: 'ci' }])])
    expect(await read()).toMatchObject({ protected: true, protection: off })
    const missing = await captureError(adminClient.rest.repos.getBranchProtection(getMainBranchParams(it)))
    expect(missing).toEqual({ status: 404, message: 'Branch not protected' })
    github.removeRuleset(it.full, ruleset)
    github.protect(it.full, 'main', {
      required_status_checks: { strict: true, contexts: ['ci'] },
      enforce_admins: true,
    })
    const checks = {
      enforcement_level: 'everyone',
      contexts: ['ci'],
      checks: [{ context: 'ci', app_id: null }],
    }
    expect(await read()).toMatchObject({
      protected: true,
      protection: { enabled: true, required_status_checks: checks },
    })
    expect((await octokit.rest.repos.getBranchRules(getMainBranchParams(it))).data).toEqual([])
  })

  test('shows its classic protection to administrators and apps with the permission', async () => {
    const it = await openMergeCase()
    github.protect(it.full, 'main', {
      required_status_checks: { strict: true, contexts: ['ci'] },
      required_pull_request_reviews: { dismiss_stale_reviews: true },
      restrictions: { users: [], teams: [], apps: ['catalog-bot'] },
    })
    const { data } = await adminClient.rest.repos.getBranchProtection(getMainBranchParams(it))
    expect(data).toMatchObject({
      required_status_checks: { strict: true },
      required_pull_request_reviews: { dismiss_stale_reviews: true, required_approving_review_count: 1 },
      restrictions: { apps: [{ slug: 'catalog-bot' }] },
      enforce_admins: { enabled: false },
    })
    const bob = githubFixture.client(github.tokenFor('bob'))
    await expect(bob.rest.repos.getBranchProtection(getMainBranchParams(it))).rejects.toMatchObject({
      status: 404,
    })
    await expect(octokit.rest.repos.getBranchProtection(getMainBranchParams(it))).rejects.toMatchObject({
      status: 403,
    })
    const before = installation.permissions
    github.setPermissions(installation, { ...before, administration: 'read' })
    const reader = githubFixture.client(await githubFixture.token())
    expect((await reader.rest.repos.getBranchProtection(getMainBranchParams(it))).data.url).toContain(
      '/protection',
    )
    github.setPermissions(installation, before)
  })

  test('has the rules that apply to the viewer in GraphQL', async () => {
    const it = await openMergeCase()
    const app = createAppBypass('always')
    github.addRules(it.full, [{ type: 'update' }], { bypass_actors: [app] })
    const rules = [{ type: 'required_linear_history' }, createStatusChecksRule([{ context: 'ci' }])]
    github.addRules(it.full, [...rules, createPullRequestRule({ required_approving_review_count: 2 })])
    const query = `query ($owner: String!, $repo: String!) {
      repository(owner: $owner, name: $repo) { ref(qualifiedName: "refs/heads/main") { refUpdateRule {
        requiredApprovingReviewCount requiredStatusCheckContexts requiresLinearHistory requiresSignatures viewerCanPush
      } } }
    }`
    const read = async (client: Octokit): Promise<unknown> =>
      (await client.graphql<{ repository: { ref: { refUpdateRule: unknown } } }>(query, it.name)).repository
        .ref.refUpdateRule
    const rule = {
      requiredApprovingReviewCount: 2,
      requiredStatusCheckContexts: ['ci'],
      requiresLinearHistory: true,
      requiresSignatures: false,
    }
    expect(await read(octokit)).toEqual({ ...rule, viewerCanPush: true })
    const bob = githubFixture.client(github.tokenFor('bob'))
    expect(await read(bob)).toEqual({ ...rule, viewerCanPush: false })
  })

  test('has viewerCanPush in GraphQL for accounts in the push allowlist', async () => {
    const it = await openMergeCase()
    const query = `query ($owner: String!, $repo: String!) {
      repository(owner: $owner, name: $repo) { ref(qualifiedName: "refs/heads/main") { refUpdateRule { viewerCanPush } } }
    }`
    const canPush = async (apps: string[]): Promise<unknown> => {
      const restrictions = { users: [], teams: [], apps }
      github.protect(it.full, 'main', { enforce_admins: true, restrictions })
      const answer = await octokit.graphql<{
        repository: { ref: { refUpdateRule: { viewerCanPush: boolean } } }
      }>(query, it.name)
      return answer.repository.ref.refUpdateRule.viewerCanPush
    }
    expect(await canPush(['catalog-bot'])).toBe(true)
    expect(await canPush([])).toBe(false)
  })
})

test('a repository shows its merge methods only to accounts with write access', async () => {
  const it = await openMergeCase()
  github.allowMergeMethods(it.full, { merge: false })
  const { data } = await octokit.rest.repos.get(it.name)
  expect(data).toMatchObject({
    allow_merge_commit: false,
    allow_squash_merge: true,
    allow_rebase_merge: true,
  })
  const reader = githubFixture.client(await githubFixture.token({ permissions: { contents: 'read' } }))
  expect((await reader.rest.repos.get(it.name)).data).not.toHaveProperty('allow_merge_commit')
})
