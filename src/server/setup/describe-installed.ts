// Describes installations and how pull requests can merge there, for the page after setup.
import { allRules } from '../../checks/all-rules.ts'
import { parseConfigFile } from '../../config/config-file.ts'
import { configPath } from '../../config/config-path.ts'
import { defaultConfig } from '../../config/config.ts'
import { toMergePlanInput } from '../../evaluate/merge-plan-input.ts'
import { chooseMergeStrategy } from '../../policy/choose-merge-strategy.ts'
import { buildRecommendedRulesets } from '../../policy/recommended-rulesets.ts'
import { openForge } from '../../adapters/github/forge.ts'
import type { GitHubApp, InstalledRepository } from '../../adapters/github/github-app.ts'
import { readRepositoryFile } from '../../adapters/github/read-file.ts'
import type { InstalledBranches, InstalledBranch } from '../../web/setup/installed-page.ts'

/** Each costs several requests. */
const maxRepositories = 12

const knownRuleIds = new Set(allRules.map(({ id }) => id))

/** Rejects with a ForgeError. */
export async function describeInstalledRepositories(github: GitHubApp): Promise<InstalledBranches> {
  const installed = await github.installedRepositories()
  const described = installed.slice(0, maxRepositories)
  const branches = await Promise.all(described.map((one) => fetchInstalledBranch(github, one)))
  return { branches, more: installed.length - described.length }
}

async function fetchInstalledBranch(
  github: GitHubApp,
  { installation, repository }: InstalledRepository,
): Promise<InstalledBranch> {
  const octokit = await github.octokit(installation)
  const forge = openForge(octokit, repository, github)
  const branch = await forge.defaultBranch()
  const [rules, permissions, file] = await Promise.all([
    forge.branchRules(branch),
    forge.permissions(),
    readRepositoryFile(octokit, repository, configPath, branch),
  ])
  const { config = defaultConfig, findings } =
    file === undefined ? { findings: [] } : parseConfigFile(file, knownRuleIds)
  const input = toMergePlanInput(config, { rules, permissions, app: github.appId })
  return {
    repository,
    branch,
    plan: chooseMergeStrategy(input),
    rulesets: buildRecommendedRulesets(branch, github.appId, input.checksToRequire),
    configProblems: findings.map(({ what }) => what),
  }
}
