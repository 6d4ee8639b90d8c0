// What must be true at the end, regardless of the crashes. It reads GitHub's branches, comments, and check runs, git,
// and the registry. In the bot's own records it only requires that nothing is left unfinished.
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { validateCatalogDirectories } from '../../../src/cli/validate.ts'
import { checkNamePrefix } from '../../../src/report/report-options.ts'
import { checkIds } from '../../../packages/findings/src/checks.ts'
import { runSqlQuery } from '../../adapters/store/local-postgres.ts'
import { isOnPath } from '../../is-on-path.ts'
import type { ChaosPullPlan } from './plans.ts'
import { getCatalogPath, type TwoBotsEnvironment } from './two-bots.ts'

/** Violations, each as a line. Some of them may still resolve. */
export async function findInvariantViolations(
  plans: readonly ChaosPullPlan[],
  bots: TwoBotsEnvironment,
): Promise<readonly string[]> {
  return [
    ...plans.flatMap((plan) => findPullInvariantViolations(plan, plans, bots)),
    ...findBranchHistoryViolations(plans, bots),
    ...findBranchViolations(bots),
    ...(await findDatabaseViolations(bots)),
  ]
}

/** The allowed outcomes of a pull request, and what its comment and checks must report. */
function findPullInvariantViolations(
  plan: ChaosPullPlan,
  plans: readonly ChaosPullPlan[],
  bots: TwoBotsEnvironment,
): readonly string[] {
  const { pull, ending, kind, packageName, refusal, goodHeads } = plan
  const faults: string[] = []
  const name = `#${pull.number} (${packageName}, ${kind})`
  const isMerged = pull.merged !== null
  if (isMerged !== (pull.state === 'closed')) faults.push(`${name} is ${pull.state} and merged: ${isMerged}`)
  if (ending === 'merges' && !isMerged) faults.push(`${name} is not merged`)
  if (ending === 'stays' && isMerged) faults.push(`${name} is merged and must not be`)
  if (ending === 'one') {
    const rivals = plans.filter((other) => other.packageName === packageName)
    const merged = rivals.filter((other) => other.pull.merged !== null).length
    if (merged !== 1) faults.push(`${name}: ${merged} of ${rivals.length} rivals are merged`)
  }
  const comments = pull.comments.filter(
    ({ app, body }) => app !== null && body.startsWith('<!-- catalog-bot'),
  )
  if (comments.length !== 1) faults.push(`${name} has ${comments.length} comments`)
  const headline = /^### (.*)$/m.exec(comments[0]?.body ?? '')?.[1] ?? ''
  const sha = pull.merged?.sha
  if (isMerged !== /Merged|merged as/.test(headline))
    faults.push(`${name} says "${headline}", merged: ${isMerged}`)
  if (sha !== undefined && !(comments[0]?.body ?? '').includes(sha.slice(0, 7)))
    faults.push(`${name} does not say that it was merged as ${sha.slice(0, 7)}`)
  if (/hit an internal error|publishing the catalog image|not published/.test(headline))
    faults.push(`${name} says "${headline}"`)

  const shas = new Set([pull.headSha, ...goodHeads])
  for (const head of shas) {
    const runs = bots.github
      .checkRuns({ repo: bots.repository, headSha: head })
      .filter((run) => run.suite.app.slug === 'catalog-bot' && run.name.startsWith(checkNamePrefix))
    for (const runName of new Set(runs.map((run) => run.name))) {
      // A completed run isn't overwritten: a run with another result comes after it, and GitHub shows the last one.
      const reportedIds = runs.filter((run) => run.name === runName).map(({ externalId }) => externalId)
      if (reportedIds.some((digest, at) => at > 0 && digest === reportedIds[at - 1]))
        faults.push(`${name}: the check run "${runName}" twice at ${head.slice(0, 7)}`)
    }
    const hasMergedHere = isMerged && goodHeads.has(head)
    // The runs of an earlier head report what was known when it was replaced.
    if (head !== pull.headSha || (isMerged && !hasMergedHere)) continue
    for (const id of checkIds) {
      const run = runs.findLast((one) => one.name === `${checkNamePrefix}${id}`)
      if (run === undefined) faults.push(`${name} has no check run ${id}`)
      else if (run.status !== 'completed') faults.push(`${name}: the check run ${id} is ${run.status}`)
      else if (hasMergedHere && !['success', 'neutral'].includes(run.conclusion ?? ''))
        faults.push(`${name} is merged, and its check run ${id} says ${run.conclusion}`)
      else if (!isMerged && refusal?.check === id) {
        if (run.conclusion === 'success' || !refusal.says.test(`${run.title} ${run.summary} ${run.text}`))
          faults.push(`${name}: the check run ${id} says ${run.conclusion}: ${run.title}`)
      } else if (!isMerged && id === 'validation' && run.conclusion !== 'success')
        faults.push(`${name}: the check run ${id} says ${run.conclusion}: ${run.title}`)
    }
  }
  return faults
}

const runGit = (bots: TwoBotsEnvironment, ...args: string[]) =>
  execFileSync('git', ['-C', bots.repository.path, ...args], { encoding: 'utf8' }).trim()

interface BranchMergeCommit {
  readonly commit: string
  readonly base: string
  readonly head: string
}

/** The first-parent history of the branch, oldest first, without its first commit. */
function readBranchHistory(bots: TwoBotsEnvironment): readonly BranchMergeCommit[] {
  const lines = runGit(bots, 'rev-list', '--first-parent', '--reverse', '--parents', 'main').split('\n')
  return lines.slice(1).map((line) => {
    const [commit = '', base = '', head = ''] = line.split(' ')
    return { commit, base, head }
  })
}

/** The branch consists of merges: each pull request's once, its head and base as parents, their merge as its tree. */
function findBranchHistoryViolations(
  plans: readonly ChaosPullPlan[],
  bots: TwoBotsEnvironment,
): readonly string[] {
  const faults: string[] = []
  const times = new Map<ChaosPullPlan, number>()
  for (const { commit, base, head } of readBranchHistory(bots)) {
    const plan = plans.find(({ goodHeads }) => goodHeads.has(head))
    if (plan === undefined) {
      faults.push(`the branch has ${commit.slice(0, 7)}, whose second parent "${head}" nobody may merge`)
      continue
    }
    times.set(plan, (times.get(plan) ?? 0) + 1)
    if (plan.pull.merged !== null && plan.pull.merged.sha !== commit)
      faults.push(`#${plan.pull.number} is merged as ${plan.pull.merged.sha}, and the branch has ${commit}`)
    const key = `${base} ${head}`
    let tree = mergedTreeCache.get(key)
    if (tree === undefined) {
      tree = runGit(bots, 'merge-tree', '--write-tree', base, head).split('\n')[0] ?? ''
      mergedTreeCache.set(key, tree)
    }
    if (runGit(bots, 'rev-parse', `${commit}^{tree}`) !== tree)
      faults.push(`${commit.slice(0, 7)} has another tree than the merge of its parents`)
  }
  for (const plan of plans) {
    const mergeCount = times.get(plan) ?? 0
    if (mergeCount > 1 || (mergeCount === 1) !== (plan.pull.merged !== null))
      faults.push(
        `#${plan.pull.number} is on the branch ${mergeCount} times, merged: ${plan.pull.merged !== null}`,
      )
  }
  return faults
}

/** The merge of two commits never changes. */
const mergedTreeCache = new Map<string, string>()

/** Nothing temporary is left. */
function findBranchViolations(bots: TwoBotsEnvironment): readonly string[] {
  const refs = runGit(bots, 'for-each-ref', '--format=%(refname)').split('\n')
  return refs
    .filter((ref) => ref !== 'refs/heads/main' && !ref.startsWith('refs/pull/'))
    .map((ref) => `${ref} is left`)
}

/** Nothing is unfinished, and nothing waits that could continue. */
async function findDatabaseViolations({ database }: TwoBotsEnvironment): Promise<readonly string[]> {
  const rows = await runSqlQuery(
    database,
    `SELECT 'intent of #' || pull || ' is open' AS fault FROM catalog_bot.intent WHERE outcome IS NULL
     UNION ALL SELECT 'lease ' || name || ' is held' FROM catalog_bot.lease WHERE expires_at > clock_timestamp()
     UNION ALL SELECT 'stopped: ' || reason FROM catalog_bot.stop
     UNION ALL SELECT '#' || pull || ' waits in line' FROM catalog_bot.ready_pull
     UNION ALL SELECT 'job ' || singleton_key || ' is ' || state FROM catalog_bot_jobs.job_common
       WHERE name = 'job' AND data->>'kind' <> 'sweep' AND (state = 'active'
         OR (state IN ('created', 'retry') AND start_after <= clock_timestamp() + interval '5 seconds'))`,
  )
  return rows.map(({ fault }) => String(fault))
}

/** Each state of the branch is a valid catalog, by opm if it is installed, and otherwise by the engine. Slow. */
export async function findInvalidCatalogStates(
  bots: TwoBotsEnvironment,
  scratch: string,
): Promise<readonly string[]> {
  const faults: string[] = []
  const byOpm = isOnPath('opm')
  const states = readBranchHistory(bots).map(({ commit }) => commit)
  const folder = join(scratch, 'state')
  for (const commit of states) {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    const archive = execFileSync('git', ['-C', bots.repository.path, 'archive', commit, 'catalogs'], {
      maxBuffer: 1 << 30,
    })
    execFileSync('tar', ['-x', '-C', folder], { input: archive })
    const catalogs = ['v4.19', 'v4.20'].map((version) => join(folder, 'catalogs', version))
    for (const catalog of byOpm ? catalogs : [])
      try {
        execFileSync('opm', ['validate', catalog], { stdio: 'pipe' })
      } catch (error) {
        faults.push(`${commit.slice(0, 7)} is no valid catalog: ${String(error).slice(0, 300)}`)
      }
    if (!byOpm) {
      const { passed, findings } = await validateCatalogDirectories(catalogs)
      if (!passed) faults.push(`${commit.slice(0, 7)} is no valid catalog: ${findings[0]?.rule}`)
    }
  }
  return faults
}

/** The branch has the added version of each merged package once, and its images are in the registry. */
export async function findMissingImages(
  plans: readonly ChaosPullPlan[],
  bots: TwoBotsEnvironment,
): Promise<readonly string[]> {
  const faults: string[] = []
  for (const { packageName, pull } of plans) {
    if (pull.merged === null) continue
    const text = runGit(bots, 'show', `main:${getCatalogPath(packageName)}`)
    for (const [, image = ''] of text.matchAll(/^image: (\S+)$/gm)) {
      const [, host = '', repository = '', tag = ''] = /^([^/]+)\/(.+):([^:]+)$/.exec(image) ?? []
      const { status } = await fetch(`http://${host}/v2/${repository}/manifests/${tag}`, {
        method: 'HEAD',
        headers: {
          accept:
            'application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json',
        },
      })
      if (status !== 200) faults.push(`the branch names ${image}, which is not there (${status})`)
    }
  }
  return faults
}
