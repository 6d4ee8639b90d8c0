// Describes installations and how pull requests can merge there, for the page after setup.
import { allRules } from '../../checks/all-rules.ts'
import { readConfigFile } from '../../config/config-file.ts'
import { configPath } from '../../config/config-path.ts'
import { defaultConfig } from '../../config/config.ts'
import { landingInputOf } from '../../examine/landing-input.ts'
import { chooseLandingMethod } from '../../gate/choose-landing-method.ts'
import { recommendedRulesets } from '../../gate/recommended-rulesets.ts'
import { openForge } from '../../github/forge.ts'
import type { GitHubApp, InstalledRepository } from '../../github/github-app.ts'
import { readFileOf } from '../../github/read-file.ts'
import type { Installed, InstalledBranch } from '../../web/setup/installed-page.ts'

/** Each costs several requests. */
const mostRepositories = 12

const ruleIds = new Set(allRules.map(({ id }) => id))

/** Rejects with a ForgeError. */
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
  const input = landingInputOf(config, { rules, permissions, app: github.appId })
  return {
    repository,
    branch,
    plan: chooseLandingMethod(input),
    rulesets: recommendedRulesets(branch, github.appId, input.checksToRequire),
    configProblems: findings.map(({ what }) => what),
  }
}
