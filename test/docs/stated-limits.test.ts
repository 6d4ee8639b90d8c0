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
const simulateInstallPath = 'src/checks/install/simulate-install.ts'
const clusterTestStatePath = 'src/checks/install/cluster-test/cluster-test-state.ts'

/** `#` in the sentence is the number, in units of the last column. */
test.each([
  [
    'reference/comment-commands',
    'within the first # lines',
    'src/pull-request/command.ts',
    'maxScannedCommentLines',
    1,
  ],
  [
    'reference/comment-commands',
    'Each account can use # commands per hour',
    'src/policy/commands.ts',
    'maxCommandsPerHour',
    1,
  ],
  ['how-to/owners', 'at most # characters', 'src/policy/command-records.ts', 'maxOverrideReasonLength', 1],
  [
    'how-to/publish',
    'intervals of up to # minutes',
    'src/publish/publish-step.ts',
    'maxPublishRetryDelayMs',
    msPerMinute,
  ],
  ['reference/configuration', 'polls it every # seconds', 'src/publish/rebuild.ts', 'rebuildPollSeconds', 1],
  [
    'how-to/release-bundles',
    'first after # seconds',
    'src/release/advance-release.ts',
    'minReleaseRetryDelayMs',
    1000,
  ],
  [
    'how-to/release-bundles',
    'up to # minutes',
    'src/release/advance-release.ts',
    'maxReleaseRetryDelayMs',
    msPerMinute,
  ],
  [
    'how-to/release-bundles',
    'more than # bundle directories',
    'src/release/release-bundles.ts',
    'maxMergedBundles',
    1,
  ],
  [
    'how-to/bundle-directories',
    'at most # MB',
    'src/catalogs/read-bundle-files.ts',
    'maxTotalTouchedBundleBytes',
    1024 * 1024,
  ],
  ['how-to/cluster-tests', 'lasts for # minutes', clusterTestStatePath, 'retryWindow', msPerMinute],
  ['how-to/cluster-tests', 'crashes after # minutes', clusterTestStatePath, 'operator', msPerMinute],
  [
    'how-to/cluster-tests',
    'at most # tests for one pull request',
    'src/checks/install/install.ts',
    'maxClusterTests',
    1,
  ],
  ['explanation/merging', 'up to # of them with one push', 'src/policy/batch.ts', 'maxBatchSize', 1],
  ['explanation/ownership', 'at most # commits', 'src/pull-request/snapshot.ts', 'maxIncomingCommits', 1],
  ['explanation/installs', 'at most # packages', simulateInstallPath, 'maxChangedPackages', 1],
  ['explanation/installs', '# channels per package', simulateInstallPath, 'maxChannelsPerPackage', 1],
  ['explanation/installs', 'the # newest versions', simulateInstallPath, 'maxVersionsPerChannel', 1],
  [
    'explanation/installs',
    'limit of # MiB',
    'src/checks/install/install-analysis.ts',
    'maxConfigMapBytes',
    1024 * 1024,
  ],
] as const)('docs/%s.md states "%s" as %s does', (page, sentence, file, constant, unit) => {
  expect(readPageText(page)).toContain(
    sentence.replace('#', String(readSourceConstant(file, constant) / unit)),
  )
})

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

interface DocumentationYamlBlock {
  readonly page: string
  readonly text: string
}

const documentationYamlBlocks: readonly DocumentationYamlBlock[] = globSync(
  'docs/{tutorials,how-to,explanation}/*.md',
  {
    cwd: projectRoot,
  },
).flatMap((page) =>
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
