// Each limit that the users' pages state is the constant in the code, and each configuration that they show is valid.
import { expect, test } from '@jest/globals'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { parseConfig } from '../../src/config/config.ts'
import { defaultQuotaReserves } from '../../src/adapters/github/budget/request-limits.ts'
import { parsePushTargets } from '../../src/publish/process/push-targets.ts'
import { parseClusterTargets } from '../../src/cluster-test/process/cluster-targets.ts'

const projectRoot = join(import.meta.dirname, '../..')
const readProjectFile = (path: string): string => readFileSync(join(projectRoot, path), 'utf8')

/** The page in one line, so that a sentence can be found wherever its lines break. */
const readPageText = (page: string): string => readProjectFile(`docs/${page}.md`).replaceAll(/\s+/g, ' ')

/** The value of a constant: a number, or a product of numbers and of constants in the same file. */
function readSourceConstant(file: string, name: string): number {
  const source = readProjectFile(file)
  const expression = new RegExp(`\\b${name}(?: =|:) (\\d[\\w *]*)`).exec(source)?.[1]
  if (expression === undefined) throw new Error(`${file} has no constant ${name}`)
  return expression
    .split('*')
    .map((factor) => factor.trim())
    .reduce(
      (product, factor) =>
        product *
        (/^\d/.test(factor) ? Number(factor.replaceAll('_', '')) : readSourceConstant(file, factor)),
      1,
    )
}

const msPerMinute = 60_000
const credentialFilesPath = 'adapters/registry/auth/credential-files'
const simulateInstallPath = 'checks/install/simulate-install'
const clusterTestStatePath = 'checks/install/cluster-test/cluster-test-state'

type StatedLimit = readonly [sentence: string, sourceFile: string, constant: string, unit: number]

/** By page. `#` in the sentence is the constant of the file in `src/`, in the last column's unit. */
const statedLimitsByPage: Readonly<Record<string, readonly StatedLimit[]>> = {
  'reference/comment-commands': [
    ['within the first # lines', 'pull-request/command', 'maxScannedCommentLines', 1],
    ['Each account can use # commands per hour', 'policy/commands', 'maxCommandsPerHour', 1],
  ],
  'reference/configuration': [
    ['polls it every # seconds', 'publish/rebuild', 'rebuildPollSeconds', 1],
    ['sends a request up to # times', 'publish/rebuild', 'maxWebhookAttempts', 1],
  ],
  'how-to/actions': [['# findings per severity', 'report/describe-findings', 'maxAnnotationsPerSeverity', 1]],
  'reference/endpoints': [['up to # repositories', 'server/setup/set-up', 'maxDescribedRepositories', 1]],
  'how-to/owners': [['at most # characters', 'policy/command-records', 'maxOverrideReasonLength', 1]],
  'how-to/networks': [
    ['at most every # seconds', credentialFilesPath, 'credentialFileRecheckIntervalMs', 1000],
  ],
  'how-to/publish': [
    ['intervals of up to # minutes', 'publish/publish-step', 'maxPublishRetryDelayMs', msPerMinute],
  ],
  'how-to/release-bundles': [
    ['first after # seconds', 'release/advance-release', 'minReleaseRetryDelayMs', 1000],
    ['up to # minutes', 'release/advance-release', 'maxReleaseRetryDelayMs', msPerMinute],
    ['more than # bundle directories', 'release/release-bundles', 'maxMergedBundles', 1],
  ],
  'how-to/bundle-directories': [
    ['at most # MB', 'catalogs/read-bundle-files', 'maxTotalTouchedBundleBytes', 1024 * 1024],
  ],
  'how-to/cluster-tests': [
    ['lasts for # minutes', clusterTestStatePath, 'retryWindow', msPerMinute],
    ['crashes after # minutes', clusterTestStatePath, 'operator', msPerMinute],
    ['at most # tests for one pull request', 'checks/install/install', 'maxClusterTests', 1],
  ],
  'explanation/api-limits': [
    ['at most # requests at once', 'adapters/github/budget/request-limits', 'concurrent', 1],
    ['5 to # seconds', 'adapters/github/budget/request-limits', 'extendedWaitTimeoutMs', 1000],
  ],
  'explanation/merging': [['up to # of them with one push', 'policy/batch', 'maxBatchSize', 1]],
  'explanation/ownership': [['at most # commits', 'pull-request/snapshot', 'maxIncomingCommits', 1]],
  'explanation/installs': [
    ['at most # packages', simulateInstallPath, 'maxChangedPackages', 1],
    ['# channels per package', simulateInstallPath, 'maxChannelsPerPackage', 1],
    ['the # newest versions', simulateInstallPath, 'maxVersionsPerChannel', 1],
    ['limit of # MiB', 'checks/install/install-analysis', 'maxConfigMapBytes', 1024 * 1024],
  ],
  'dev/decisions/batches': [
    ['is at most # s old', 'evaluate/pull-evaluation', 'maxReadyEvaluationAgeMs', 1000],
    ['Selection ends # s after', 'merge/run-merge-batch', 'batchSelectionWindowMs', 1000],
    ['One query confirms up to # members', 'adapters/github/graphql-pull', 'maxPullsPerQuery', 1],
  ],
  'dev/decisions/bundles': [['at most # bundles', 'adapters/registry/cached-bundles', 'pulls', 1]],
  'dev/performance': [['wait up to # s for evaluations', 'jobs/job-scheduler', 'maxWaitMs', 1000]],
  'dev/threats': [
    ['At most # fetches run at a time', 'adapters/git/fetch', 'maxFetchSlots', 1],
    ['yields to other evaluations after # s', 'evaluate/worker/evaluation-pool', 'smallLaneCpuLimitMs', 1000],
    ['follows at most # links', 'catalogs/linked-file', 'maxSymlinksFollowed', 1],
    ['and # path segments', 'catalogs/linked-file', 'maxPathSegmentsPerSymlink', 1],
  ],
}

const statedLimits = Object.entries(statedLimitsByPage).flatMap(([page, limits]) =>
  limits.map((limit) => [page, ...limit] as const),
)
test.each(statedLimits)(
  'docs/%s.md states "%s" as src/%s.ts does (%s)',
  (page, sentence, file, constant, unit) => {
    const limit = readSourceConstant(`src/${file}.ts`, constant) / unit
    expect(readPageText(page)).toContain(sentence.replace('#', String(limit)))
  },
)

test('the page about rate limits has the default reserves', () => {
  const { look, sweep, scan } = defaultQuotaReserves
  const percentages = [look, sweep, scan].map((share) => share * 100)
  const page = readProjectFile('docs/explanation/api-limits.md')
  expect(page).toContain(`GITHUB_RESERVES=${percentages.join(',')}`)
  for (const percentage of percentages) expect(page).toContain(`| ${percentage}%`)
})

test('the page for those who decide has the resources of the chart', () => {
  const { resources } = parse(readProjectFile('deploy/chart/values.yaml')) as {
    resources: { requests: { cpu: string; memory: string }; limits: { memory: string } }
  }
  const page = readPageText('explanation/comparison')
  expect(page).toContain(
    `reserves ${resources.requests.cpu} of CPU and ${resources.requests.memory} of memory`,
  )
  expect(page).toContain(`limits memory to ${resources.limits.memory}`)
})

const guides = globSync('docs/{tutorials,how-to,explanation}/*.md', { cwd: projectRoot })
const documentationYamlBlocks = guides.flatMap((page) =>
  [...readProjectFile(page).matchAll(/^( *)```yaml\n([^]*?)^ *```$/gm)].map(([, indent = '', text = '']) => ({
    page,
    text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  })),
)

/** Keys of the configuration that no other documented file has at its top level. */
const configurationKeyPattern =
  /^(?:approvals|automation|branches|bundles|images|install|merge|owners|permissions|publish|rebuild|rules):/

test('each documented configuration is valid', () => {
  const configurations = documentationYamlBlocks.filter(({ text }) => configurationKeyPattern.test(text))
  expect(configurations.length).toBeGreaterThan(6)
  const invalid = configurations.filter(({ text }) => parseConfig(text).kind !== 'config')
  expect(invalid).toEqual([])
})

test('each documented file of a bot administrator is valid', () => {
  const targets = documentationYamlBlocks.filter(({ text }) => text.startsWith('- github:'))
  expect(targets.length).toBeGreaterThan(1)
  for (const { text } of targets)
    if (text.includes('kubeconfig:')) expect(parseClusterTargets(text)).toHaveLength(1)
    else expect(parsePushTargets(text)).toHaveLength(1)
})
