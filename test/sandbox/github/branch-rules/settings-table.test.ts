// What GitHub's documents and its users say of each setting of a branch when an app pushes the merge of a pull request
// that it made itself, by compare-and-swap, bypassing no checks: row by row of that table.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { readFile } from 'node:fs/promises'
import type { Rule } from '../../../../sandbox/github/branch-rules/rule-shapes.ts'
import {
  Ground,
  accepted,
  checksRule,
  pullRequestRule,
  queueRule,
  refusedByProtection,
  refusedByRuleset,
  ruleMessage,
} from './landing-ground.ts'
import type { Landing, LandingOptions, Pushed } from './landing-ground.ts'

let ground: Ground
beforeAll(async () => {
  ground = await Ground.furnish()
})
afterAll(async () => ground.it.stop())
afterEach(() => {
  expect(ground.it.github.violations.splice(0)).toEqual([])
})

const own = 'catalog-bot / validation'
const approval = 'At least 1 approving review is required by reviewers with write access.'
const lastPusher = 'New changes require approval from someone other than the last pusher.'
const linear = 'This branch must not contain merge commits.'
const queue = 'Changes must be made through the merge queue'
const notAuthorized =
  "You're not authorized to push to this branch. Visit https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-protected-branches/about-protected-branches for more information."

/** The rows that have a test below, by the words of their first column. */
const rows: string[] = []
function row(setting: string, claims: () => void): void {
  rows.push(setting)
  describe(setting, claims)
}

const landing = async (rules: readonly Rule[], more?: LandingOptions): Promise<Landing> => {
  const it = await ground.landing(more)
  if (rules.length > 0) ground.it.github.addRules(it.full, rules)
  return it
}
const refused = ({ full }: Landing, ...says: string[]): Pushed =>
  refusedByRuleset(full, ground.it.github.url, says)
/** M is the base's tip, and the pull request is merged by the very push. */
const landed = async (it: Landing): Promise<void> => {
  expect(await ground.tip(it)).toBe(it.M)
  expect(it.pull).toMatchObject({ state: 'closed', merged: { sha: it.M } })
}
const untouched = async (it: Landing): Promise<void> => {
  expect(await ground.tip(it)).toBe(it.B)
  expect(it.pull).toMatchObject({ state: 'open', merged: null })
}

row('none, deletion, non_fast_forward', () => {
  test('a merge lands, a deletion and a force push do not', async () => {
    const it = await landing([{ type: 'deletion' }, { type: 'non_fast_forward' }])
    expect(await ground.push(it, ':refs/heads/main')).toMatchObject({ accepted: false })
    expect(await ground.push(it, `+${it.H}:refs/heads/main`)).toEqual(
      refused(it, 'Cannot force-push to this branch'),
    )
    await untouched(it)
    expect(await ground.pushMerge(it)).toMatchObject(accepted)
    await landed(it)
  })

  test('a lease push of a moved base is refused by git, not by a rule', async () => {
    const it = await landing([{ type: 'non_fast_forward' }])
    await ground.it.github.pushToBase(it.full, { 'again.txt': 'x' })
    const pushed = await ground.push(it, [`--force-with-lease=main:${it.B}`, `${it.M}:refs/heads/main`])
    expect(pushed).toMatchObject({ accepted: false, remote: [], reason: undefined })
  })
})

row('required own checks', () => {
  test('the merge needs them on itself: green on a head that is behind is not enough', async () => {
    const app = ground.it.app.id
    const it = await landing([checksRule([{ context: own, integration_id: app }])])
    await ground.check(it, it.H, own)
    expect(await ground.pushMerge(it)).toEqual(refused(it, `Required status check "${own}" is expected.`))
    await untouched(it)
    expect(await ground.stage(it)).toMatchObject(accepted)
    await ground.check(it, it.M, own)
    expect(await ground.pushMerge(it)).toMatchObject(accepted)
    await landed(it)
  })
})

row('required foreign checks (CI)', () => {
  test('only if CI ran on the merge', async () => {
    const it = await landing([checksRule([{ context: 'ci' }])])
    await ground.it.github.setStatus(it.full, it.H, 'bob', { context: 'ci', state: 'success' })
    expect(await ground.pushMerge(it)).toEqual(refused(it, 'Required status check "ci" is expected.'))
    await ground.stage(it)
    await ground.it.github.setStatus(it.full, it.M, 'bob', { context: 'ci', state: 'success' })
    expect(await ground.pushMerge(it)).toMatchObject(accepted)
    await landed(it)
  })

  test('or the head contains the base', async () => {
    const it = await landing([checksRule([{ context: 'ci' }])], { behind: false })
    await ground.it.github.setStatus(it.full, it.H, 'bob', { context: 'ci', state: 'success' })
    expect(await ground.pushMerge(it)).toMatchObject(accepted)
    await landed(it)
  })
})

row('pull_request, 0 approvals', () => {
  test('an open pull request is enough, and without one nothing is', async () => {
    const it = await landing([pullRequestRule()])
    await ground.it.github.close(it.pull)
    expect(await ground.pushMerge(it)).toEqual(refused(it, 'Changes must be made through a pull request.'))
    await ground.it.github.reopen(it.pull)
    expect(await ground.pushMerge(it)).toMatchObject(accepted)
    await landed(it)
  })
})

row('pull_request, ≥1', () => {
  test('once it is approved by someone with write access', async () => {
    const it = await landing([pullRequestRule({ required_approving_review_count: 1 })])
    ground.it.github.review(it.pull, 'stranger', 'approve')
    expect(await ground.pushMerge(it)).toEqual(refused(it, approval))
    ground.it.github.review(it.pull, 'bob', 'approve')
    expect(await ground.pushMerge(it)).toMatchObject(accepted)
    await landed(it)
  })
})

row('+ dismiss stale / last push', () => {
  test.each([
    ['dismiss_stale_reviews_on_push', approval],
    ['require_last_push_approval', lastPusher],
  ])('%s: only a merge of exactly the tree that GitHub makes', async (setting, says) => {
    const it = await landing([pullRequestRule({ required_approving_review_count: 1, [setting]: true })])
    ground.it.github.review(it.pull, 'bob', 'approve')
    const { M } = await ground.merged(it, { 'alpha.yaml': 'name: alpha\nmore: 1\n' })
    expect(await ground.push(it, `${M}:refs/heads/main`)).toEqual(refused(it, says))
    await untouched(it)
    expect(await ground.pushMerge(it)).toMatchObject(accepted)
    await landed(it)
  })

  test('a push that changes the pull request ends its approvals, merging the base in does not', async () => {
    const rules = [
      pullRequestRule({ required_approving_review_count: 1, dismiss_stale_reviews_on_push: true }),
    ]
    const it = await landing(rules)
    const review = ground.it.github.review(it.pull, 'bob', 'approve')
    await ground.stage(it)
    await ground.it.github.forcePush(it.pull, { commit: it.M })
    expect(review.state).toBe('APPROVED')
    await ground.it.github.pushToPull(it.pull, { 'beta.yaml': 'name: beta\n' })
    expect(review.state).toBe('DISMISSED')
    const again = { ...it, ...(await ground.merged(it)) }
    expect(await ground.pushMerge(again)).toEqual(refused(it, approval))
  })

  test('the last pusher is not somebody else', async () => {
    const rules = [pullRequestRule({ required_approving_review_count: 1, require_last_push_approval: true })]
    const it = await landing(rules)
    await ground.it.github.pushToPull(it.pull, { 'beta.yaml': 'name: beta\n' }, { by: 'bob' })
    ground.it.github.review(it.pull, 'bob', 'approve')
    const again = { ...it, ...(await ground.merged(it)) }
    expect(await ground.pushMerge(again)).toEqual(refused(it, lastPusher))
    ground.it.github.review(it.pull, 'carol', 'approve')
    expect(await ground.pushMerge(again)).toMatchObject(accepted)
    await landed(again)
  })
})

row('code owners, conversations', () => {
  test('an owner of what changed must approve, somebody else does not do', async () => {
    const files = { '.github/CODEOWNERS': '* @bob\n*.yaml @carol\n' }
    const it = await landing([pullRequestRule({ require_code_owner_review: true })], { files })
    ground.it.github.review(it.pull, 'bob', 'approve')
    expect(await ground.pushMerge(it)).toEqual(refused(it, 'Waiting on code owner review from carol.'))
    ground.it.github.review(it.pull, 'carol', 'approve')
    expect(await ground.pushMerge(it)).toMatchObject(accepted)
    await landed(it)
  })

  test('conversations must be resolved', async () => {
    const it = await landing([pullRequestRule({ required_review_thread_resolution: true })])
    ground.it.github.openConversation(it.pull)
    const says = 'A conversation must be resolved before this pull request can be merged.'
    expect(await ground.pushMerge(it)).toEqual(refused(it, says))
    ground.it.github.resolveConversation(it.pull)
    expect(await ground.pushMerge(it)).toMatchObject(accepted)
    await landed(it)
  })
})

row('`update` / restricted pushers', () => {
  test.each(['always', 'exempt'] as const)('with bypass %s the merge lands', async (bypass_mode) => {
    const it = await landing([])
    const ruleset = ground.it.github.addRules(it.full, [{ type: 'update' }])
    expect(await ground.pushMerge(it)).toEqual(refused(it, 'Cannot update this protected ref.'))
    await untouched(it)
    ground.it.github.removeRuleset(it.full, ruleset)
    const app = { actor_type: 'Integration', actor_id: ground.it.app.id, bypass_mode } as const
    ground.it.github.addRules(it.full, [{ type: 'update' }], { bypass_actors: [app] })
    const pushed = await ground.pushMerge(it)
    expect(pushed).toMatchObject(accepted)
    // Who is exempt is not told of anything.
    expect(pushed.remote).toEqual(
      bypass_mode === 'exempt'
        ? []
        : ['Bypassed rule violations for refs/heads/main:', '', '- Cannot update this protected ref.', ''],
    )
    await landed(it)
  })

  test('with bypass for pull requests only, a push does not land and a merge by API does', async () => {
    const it = await landing([])
    const app = {
      actor_type: 'Integration',
      actor_id: ground.it.app.id,
      bypass_mode: 'pull_request',
    } as const
    ground.it.github.addRules(it.full, [{ type: 'update' }], { bypass_actors: [app] })
    expect(await ground.pushMerge(it)).toEqual(refused(it, 'Cannot update this protected ref.'))
    expect(await ground.mergeByApi(it)).toHaveProperty('sha')
  })

  test('bypass of one ruleset does not reach another', async () => {
    const it = await landing([checksRule([{ context: own }])])
    const app = { actor_type: 'Integration', actor_id: ground.it.app.id, bypass_mode: 'always' } as const
    ground.it.github.addRules(it.full, [{ type: 'update' }], { bypass_actors: [app] })
    expect(await ground.pushMerge(it)).toEqual(refused(it, `Required status check "${own}" is expected.`))
  })

  test('a listing among classic pushers is necessary, and not sufficient', async () => {
    const it = await landing([])
    const none = { required_status_checks: null, enforce_admins: true, required_pull_request_reviews: null }
    const checks = { strict: false, contexts: [own] }
    const list = (apps: string[]): void =>
      ground.it.github.protect(it.full, 'main', {
        ...none,
        required_status_checks: checks,
        restrictions: { users: [], teams: [], apps },
      })
    list([])
    const missing = `Required status check "${own}" is expected.`
    expect(await ground.pushMerge(it)).toEqual(refusedByProtection([missing, notAuthorized]))
    list(['catalog-bot'])
    expect(await ground.pushMerge(it)).toEqual(refusedByProtection([missing]))
    await ground.stage(it)
    await ground.check(it, it.M, own)
    expect(await ground.pushMerge(it)).toMatchObject(accepted)
    await landed(it)
  })
})

row('required_linear_history', () => {
  test('no merge is pushed; squash by API lands', async () => {
    const it = await landing([{ type: 'required_linear_history' }])
    const pushed = await ground.pushMerge(it)
    expect(pushed).toMatchObject({ accepted: false, reason: refused(it).reason })
    expect(pushed.remote.slice(-5)).toEqual([`- ${linear}`, 'Found 1 violation:', '', it.M, ''])
    expect(await ground.mergeByApi(it, 'merge')).toEqual({ status: 405, message: ruleMessage(linear) })
    await untouched(it)
    expect(await ground.mergeByApi(it, 'squash')).toEqual({ sha: await ground.tip(it) })
  })

  test('classic: rebase by API lands', async () => {
    const it = await landing([])
    ground.it.github.protect(it.full, 'main', { required_linear_history: true, enforce_admins: true })
    expect(await ground.pushMerge(it)).toMatchObject({ reason: 'protected branch hook declined' })
    expect(await ground.mergeByApi(it, 'merge')).toEqual({ status: 405, message: linear })
    expect(await ground.mergeByApi(it, 'rebase')).toEqual({ sha: await ground.tip(it) })
  })
})

row('`allowed_merge_methods` without merge', () => {
  test('a pushed merge counts as one; the API lands by a method that is allowed', async () => {
    const it = await landing([pullRequestRule({ allowed_merge_methods: ['squash'] })])
    const says = 'Merge commits are not allowed on this repository.'
    expect(await ground.pushMerge(it)).toEqual(refused(it, says))
    expect(await ground.mergeByApi(it, 'merge')).toEqual({ status: 405, message: ruleMessage(says) })
    expect(await ground.mergeByApi(it, 'rebase')).toMatchObject({ status: 405 })
    await untouched(it)
    expect(await ground.mergeByApi(it, 'squash')).toEqual({ sha: await ground.tip(it) })
  })
})

row('repo `allow_merge_commit=false` alone', () => {
  test('the API refuses; a push is none of its business, as far as anyone says', async () => {
    const it = await landing([])
    ground.it.github.allowMergeMethods(it.full, { merge: false })
    const message = 'Merge commits are not allowed on this repository.'
    expect(await ground.mergeByApi(it, 'merge')).toEqual({ status: 405, message })
    await untouched(it)
    expect(await ground.pushMerge(it)).toMatchObject(accepted)
    await landed(it)
  })
})

row('required_signatures', () => {
  const unsigned = 'Commits must have verified signatures.'

  test('an unsigned merge is refused, one made by API as the app is verified and lands', async () => {
    const it = await landing([{ type: 'required_signatures' }], { signed: true })
    const pushed = await ground.pushMerge(it)
    expect(pushed).toMatchObject({ accepted: false, reason: refused(it).reason })
    expect(pushed.remote.slice(-5)).toEqual([`- ${unsigned}`, 'Found 1 violation:', '', it.M, ''])
    await untouched(it)
    await ground.stage(it)
    const { rest } = ground.it.octokit
    const { data: made } = await rest.git.getCommit({ ...it.name, commit_sha: it.M })
    const parents = [it.B, it.H]
    const { data: signed } = await rest.git.createCommit({
      ...it.name,
      message: 'Merge',
      tree: made.tree.sha,
      parents,
    })
    expect(signed.verification).toMatchObject({ verified: true, reason: 'valid' })
    expect(signed.parents.map(({ sha }) => sha)).toEqual(parents)
    await rest.git.updateRef({ ...it.name, ref: 'heads/main', sha: signed.sha, force: false })
    expect(it.pull.merged).toMatchObject({ sha: signed.sha })
  })

  test("every commit is looked at: the head's own, too", async () => {
    const it = await landing([{ type: 'required_signatures' }])
    expect(await ground.mergeByApi(it, 'merge')).toEqual({ status: 405, message: ruleMessage(unsigned) })
    expect(await ground.mergeByApi(it, 'rebase')).toEqual({ status: 405, message: ruleMessage(unsigned) })
    // Only who opened the pull request may squash it there.
    expect(await ground.mergeByApi(it, 'squash')).toEqual({ status: 405, message: ruleMessage(unsigned) })
  })

  test('a commit with a custom author is not signed', async () => {
    const it = await landing([{ type: 'required_signatures' }], { signed: true })
    await ground.stage(it)
    const tree = (await ground.it.octokit.rest.git.getCommit({ ...it.name, commit_sha: it.M })).data.tree.sha
    const { data } = await ground.it.octokit.rest.git.createCommit({
      ...it.name,
      message: 'Merge',
      tree,
      parents: [it.B, it.H],
      author: { name: 'catalog-bot', email: 'bot@example.invalid' },
    })
    expect(data.verification).toMatchObject({ verified: false, reason: 'unsigned' })
    const moved = ground.it.octokit.rest.git.updateRef({ ...it.name, ref: 'heads/main', sha: data.sha })
    expect(await ground.ask(moved)).toEqual({ status: 422, message: ruleMessage(unsigned) })
  })
})

row('merge_queue', () => {
  test('nothing lands but through the queue, neither by push nor by API', async () => {
    const it = await landing([queueRule()])
    expect(await ground.pushMerge(it)).toEqual(refused(it, queue))
    expect(await ground.mergeByApi(it)).toEqual({ status: 405, message: ruleMessage(queue) })
    await untouched(it)
  })

  test('with bypass the queue is skipped', async () => {
    const it = await landing([])
    const app = { actor_type: 'Integration', actor_id: ground.it.app.id, bypass_mode: 'always' } as const
    ground.it.github.addRules(it.full, [queueRule()], { bypass_actors: [app] })
    expect(await ground.mergeByApi(it)).toEqual({ sha: await ground.tip(it) })
  })
})

row('`workflows` rule', () => {
  test('blocks direct pushes', async () => {
    const workflow = { path: '.github/workflows/ci.yml', repository_id: 1 }
    const it = await landing([{ type: 'workflows', parameters: { workflows: [workflow] } }])
    expect(await ground.pushMerge(it)).toEqual(refused(it, "Required workflow 'ci' is not satisfied"))
    await untouched(it)
    await ground.it.github.runWorkflow(it.full, 'ci.yml', it.H)
    expect(await ground.mergeByApi(it)).toEqual({ sha: await ground.tip(it) })
  })
})

row('code_scanning, deployments', () => {
  test('are unknown for pushes and taken as a refusal; the API lands', async () => {
    const tool = { tool: 'CodeQL', alerts_threshold: 'errors', security_alerts_threshold: 'all' }
    const environments = { required_deployment_environments: ['staging'] }
    const it = await landing([
      { type: 'code_scanning', parameters: { code_scanning_tools: [tool] } },
      { type: 'required_deployments', parameters: environments },
    ])
    const scanning = `Code scanning is waiting for results from CodeQL for the commit ${it.M.slice(0, 7)}.`
    const deployment = 'Missing successful active staging deployment.'
    expect(await ground.pushMerge(it)).toEqual(refused(it, scanning, deployment))
    ground.it.github.analyze(it.full, it.H, 'CodeQL')
    ground.it.github.deploy(it.full, it.H, 'staging')
    expect(await ground.mergeByApi(it)).toEqual({ sha: await ground.tip(it) })
  })
})

row('PR edits `.github/workflows/`', () => {
  test('refused without workflows: write, under a temporary ref, too', async () => {
    const changes = { '.github/workflows/ci.yml': 'on: push\n' }
    // The head comes from a fork: the base repository's app brings it in.
    const it = await landing([], { changes })
    const reason =
      'refusing to allow a GitHub App to create or update workflow `.github/workflows/ci.yml` without `workflows` permission'
    expect(await ground.pushMerge(it)).toEqual({ accepted: false, remote: [], reason })
    expect(await ground.stage(it)).toEqual({ accepted: false, remote: [], reason })
    expect(await ground.mergeByApi(it)).toEqual({ status: 403, message: reason })
    await untouched(it)
    const { github, installation } = ground.it
    const before = installation.permissions
    github.setPermissions(installation, { ...before, workflows: 'write' })
    expect(await ground.pushMerge(it)).toMatchObject(accepted)
    await landed(it)
    github.setPermissions(installation, before)
  })

  test('a workflow that the base has changed meanwhile is nobody’s edit in the merge', async () => {
    const it = await ground.landing({ behind: false })
    await ground.it.github.pushToBase(it.full, { '.github/workflows/ci.yml': 'on: push\n' })
    const again = { ...it, ...(await ground.merged(it)) }
    expect(await ground.pushMerge(again)).toMatchObject(accepted)
    await landed(again)
  })
})

test('no row of the table is left out', async () => {
  const page = new URL('../../../../../shared/reference/github-landing.md', import.meta.url)
  const text = await readFile(page, 'utf8').catch(() => undefined)
  if (text === undefined) return
  const table = text.slice(text.indexOf('## 3.'), text.indexOf('## 4.'))
  const settings = table
    .split('\n')
    .filter((line) => line.startsWith('|') && !line.startsWith('|-'))
    .slice(1)
    .map((line) => line.split('|')[1]?.trim())
  expect(rows).toEqual(settings)
})
