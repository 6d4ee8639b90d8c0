// Where the App is installed, and how pull requests would get onto the default branches there: for the page after the setup.
import { allRules } from '../../checks/all-rules.ts'
import { readConfigFile } from '../../config/config-file.ts'
import { configPath } from '../../config/config-path.ts'
import { defaultConfig } from '../../config/config.ts'
import { chooseLandingMethod } from '../../gate/choose-landing-method.ts'
import { demandedChecks } from '../../gate/demanded-checks.ts'
import { recommendedRulesets } from '../../gate/recommended-rulesets.ts'
import { openForge } from '../../github/forge.ts'
import type { GitHubApp, InstalledRepository } from '../../github/github-app.ts'
import { readFileOf } from '../../github/read-file.ts'
import { namesOfChecks, ownChecks } from '../../messages/report.ts'
import type { Installed, InstalledBranch } from '../../web/setup/installed-page.ts'

/** Each costs some requests, and nobody reads more. */
const mostRepositories = 12

const ruleIds = new Set(allRules.map(({ id }) => id))

/** Rejects with a ForgeError when GitHub does not say. */
export async function describeInstalled(github: GitHubApp): Promise<Installed> {
  const installed = await github.installedRepositories()
  const told = installed.slice(0, mostRepositories)
  const branches = await Promise.all(told.map((one) => describeBranch(github, one)))
  return { branches, more: installed.length - told.length }
}

async function describeBranch(
  github: GitHubApp,
  { installation, repository }: InstalledRepository,
): Promise<InstalledBranch> {
  const octokit = await github.octokit(installation)
  const forge = openForge(octokit, repository, github)
  const branch = await forge.defaultBranch()
  const [rules, permissions, file] = await Promise.all([
    forge.branchRules(branch),
    forge.permissions(),
    readFileOf(octokit, repository, configPath, branch),
  ])
  const { config = defaultConfig, findings } =
    file === undefined ? { findings: [] } : readConfigFile(file, ruleIds)
  const checksToRequire = namesOfChecks(demandedChecks(config))
  const plan = chooseLandingMethod({
    rules,
    wanted: config.merge.method,
    permissions,
    app: github.appId,
    ownChecks,
    checksToRequire,
  })
  return {
    repository,
    branch,
    plan,
    rulesets: recommendedRulesets(branch, github.appId, checksToRequire),
    configProblems: findings.map(({ what }) => what),
  }
}
