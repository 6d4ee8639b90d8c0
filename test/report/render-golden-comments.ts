// The most common comments, rendered by the complete code: catalogs are text, and the checks produce the findings, fixes, and
// diagrams. Only external input (reviews, answers of registries, URLs of check runs) is written here.
import { toBlobSha, toCommitSha, toPullNumber } from '../../src/pull-request/ids.ts'
import { assembleCatalog } from '../../packages/fbc/src/facts/catalog.ts'
import { parseCatalogFile } from '../../packages/fbc/src/load/parse-catalog-file.ts'
import { describePullRequestChange, renderChangeAsMermaid } from '../../src/pull-request/describe-change.ts'
import type { CheckInput, CheckOutcome } from '../../src/checks/check.ts'
import { computeFindingFix } from '../../src/checks/fixes/fix-finding.ts'
import { imageByTagRule, imageMissingRule } from '../../src/checks/images/rules.ts'
import { newPackageRule, notOwnerRule, fileOutsidePackagesRule } from '../../src/checks/ownership/rules.ts'
import { validationCheck } from '../../src/checks/validation/validation.ts'
import { defaultConfig } from '../../src/config/config.ts'
import { checkIds } from '../../packages/findings/src/checks.ts'
import type { Finding } from '../../packages/findings/src/finding.ts'
import { createFinding } from '../../packages/findings/src/rule.ts'
import { decideVerdict, type VerdictInput } from '../../src/policy/decide.ts'
import {
  formatDescriptionLinesAsMarkdown,
  describePullRequestChangeAsLines,
} from '../../src/report/describe-change.ts'
import { describeChannelHeadConflicts } from '../../src/report/evaluation-report.ts'
import {
  summarizePublicationStatus,
  formatPublishedImageLines,
  type PublishedImageView,
} from '../../src/report/publish-check.ts'
import { renderPullReport } from '../../src/report/report.ts'
import {
  type PullReportOptions,
  toFindingIdentityKey,
  type SuggestedFixForFinding,
  type TracedFindingLine,
} from '../../src/report/report-options.ts'
import { summarizePullRequestChange } from '../../src/report/summarize-change.ts'
import {
  createVerdictInput,
  createTestPullSnapshot,
  createOutcomesForAllChecks,
  createPassedCheckOutcome,
} from '../policy/verdict-inputs.ts'

const imageDigest = `sha256:${'0123456789abcdef'.repeat(4)}`
const catalogLayout = { catalogs: [{ root: 'catalogs/v4.20', version: '4.20' }] as const }
const headSha = toCommitSha('beac5c8d'.padEnd(40, '1'))
const baseSha = toCommitSha('af7c16ab'.padEnd(40, '2'))
const pullContext = {
  web: 'https://github.com',
  repository: { owner: 'acme', name: 'catalog' },
  pull: toPullNumber(12),
}
const checkRunUrls = new Map(
  checkIds.map((id, at) => [`catalog-bot / ${id}`, `https://github.com/acme/catalog/runs/900${at}`]),
)

/** Entries as `1.1.0 < 1.0.0` (replaces), newest last. */
function createCatalogYaml(
  name: string,
  entries: readonly string[],
  more: { image?: string; extra?: string } = {},
): string {
  const parts = entries.map((entry) => entry.split(' < '))
  const lines = parts.map(
    ([version, replaces]) =>
      `  - name: ${name}.v${version}\n${replaces === undefined ? '' : `    replaces: ${name}.v${replaces}\n${more.extra ?? ''}`}`,
  )
  const newest = parts.at(-1)?.[0]
  const formatImage = (version = '') =>
    version === newest && more.image !== undefined ? more.image : `quay.io/acme/${name}-bundle@${imageDigest}`
  const bundles = parts.map(
    ([version]) => `---
schema: olm.bundle
package: ${name}
name: ${name}.v${version}
image: ${formatImage(version)}
relatedImages:
  - name: bundle
    image: ${formatImage(version)}
properties:
  - type: olm.package
    value:
      packageName: ${name}
      version: ${version}
  - type: olm.csv.metadata
    value:
      displayName: ${name}
      installModes:
        - type: AllNamespaces
          supported: true
`,
  )
  return `---
schema: olm.package
name: ${name}
defaultChannel: stable
---
schema: olm.channel
package: ${name}
name: stable
entries:
${lines.join('')}${bundles.join('')}`
}

const getCatalogPath = (name: string) => `catalogs/v4.20/${name}/catalog.yaml`

type TextByFilePath = Readonly<Record<string, string>>

const encodeText = (text: string) => new TextEncoder().encode(text)

/** The change between two trees of one catalog. */
function buildCatalogChange(before: TextByFilePath, after: TextByFilePath) {
  const [{ root, version }] = catalogLayout.catalogs
  const read = (files: TextByFilePath) =>
    assembleCatalog(
      Object.entries(files).map(([path, text]) => ({
        path: path.slice(root.length + 1),
        facts: parseCatalogFile(encodeText(text)),
      })),
    )
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].map((path) => ({
    path,
    ...(before[path] !== undefined && { before: { mode: '100644', oid: toBlobSha('b'.repeat(40)) } }),
    ...(after[path] !== undefined && { after: { mode: '100644', oid: toBlobSha('a'.repeat(40)) } }),
  }))
  const catalogs = paths.length === 0 ? [] : [{ root, version, base: read(before), result: read(after) }]
  const sides = { base: before, result: after }
  const treeFiles = {
    read: (side: 'base' | 'result', path: string) => {
      const text = sides[side][path]
      return text === undefined ? undefined : encodeText(text)
    },
  }
  return describePullRequestChange({ paths, layout: catalogLayout, catalogs, treeFiles })
}

interface GoldenCommentInputs {
  readonly before: TextByFilePath
  readonly after: TextByFilePath
  readonly gate?: Partial<VerdictInput>
  readonly ownership?: Partial<CheckOutcome>
  readonly images?: Partial<CheckOutcome>
  /** The origin of the lines of the result. Default: the same line of the head. */
  readonly trace?: (line: number) => Pick<TracedFindingLine, 'side' | 'first'>
  readonly options?: Partial<PullReportOptions>
}

function render({ before, after, gate, ownership, images, trace, options }: GoldenCommentInputs): string {
  const change = buildCatalogChange(before, after)
  const ownerFiles = { base: new Map<string, string>(), result: new Map<string, string>() }
  const result = validationCheck.judge(
    { change, config: defaultConfig, ownerFiles } as unknown as CheckInput,
    {
      get: () => {
        throw new Error('validation asks nothing of a catalog without templates')
      },
    },
  )
  const outcomes = createOutcomesForAllChecks(
    createPassedCheckOutcome('ownership', { summary: '1 file, 1 package', ...ownership }),
    result,
    createPassedCheckOutcome('images', { summary: '2 images found', ...images }),
    createPassedCheckOutcome('install', { summary: 'installs with OLM v0', isOptional: true }),
  )
  const snapshot = createTestPullSnapshot({ pull: pullContext.pull, head: headSha, base: baseSha })
  const verdict = decideVerdict(createVerdictInput({ snapshot, outcomes, ...gate }))
  const traced = new Map<string, TracedFindingLine>()
  const add = (file: string, line: number, last = line) => {
    const { side, first } = trace?.(line) ?? { side: 'head', first: line }
    traced.set(`${file} ${line}`, { file, line, side, first, last: first + last - line })
  }
  const fixes: SuggestedFixForFinding[] = []
  for (const found of outcomes.flatMap(({ findings }): readonly Finding[] => findings)) {
    if (found.at === undefined) continue
    add(found.at.file, found.at.line)
    const text = after[found.at.file]
    const fix = text === undefined ? undefined : computeFindingFix(found, encodeText(text))
    if (fix === undefined) continue
    add(fix.file, fix.first, fix.last)
    fixes.push({ finding: toFindingIdentityKey(found), fix })
  }
  return renderPullReport(verdict, {
    summary: summarizePullRequestChange(change),
    changeLines: formatDescriptionLinesAsMarkdown(describePullRequestChangeAsLines(change)),
    graph: renderChangeAsMermaid(change),
    change: 'c0ffee123456'.repeat(3),
    page: pullContext,
    runs: checkRunUrls,
    rulesUrl: 'https://github.com/acme/catalog-bot/blob/main/docs/rules',
    lines: [...traced.values()],
    fixes,
    ...options,
  }).comment
}

const lighthousePackageUpdateInputs = {
  before: { [getCatalogPath('lighthouse')]: createCatalogYaml('lighthouse', ['1.0.0', '1.1.0 < 1.0.0']) },
  after: {
    [getCatalogPath('lighthouse')]: createCatalogYaml('lighthouse', [
      '1.0.0',
      '1.1.0 < 1.0.0',
      '1.2.0 < 1.1.0',
    ]),
  },
}
const tidepoolCatalogYaml = createCatalogYaml('tidepool', ['0.4.0', '0.5.0 < 0.4.0'])
const forkedChannelCatalogYaml = createCatalogYaml('tidepool', ['0.4.0', '0.5.0 < 0.4.0', '0.5.1 < 0.4.0'])
const createCatalogLocation = (name: string, line: number) => ({
  file: getCatalogPath(name),
  line,
  column: 8,
})
const taggedImageCatalogYaml = createCatalogYaml('tidepool', ['0.4.0', '0.5.0 < 0.4.0', '0.5.1 < 0.4.0'], {
  image: 'quay.io/acme/tidepool-bundle:v0.5',
})
const findLineNumber = (text: string, part: string) =>
  text.split('\n').findIndex((line) => line.includes(part)) + 1
const mergeCommitSha = toCommitSha('1656dda0'.padEnd(40, '3'))
const publishedImageViews: readonly PublishedImageView[] = [
  {
    root: 'catalogs/v4.20',
    image: 'quay.io/acme/catalog',
    tags: ['v4.20'],
    state: {
      ...{ kind: 'published', digest: imageDigest, unchanged: false, seconds: 12 },
      ...{ moved: [], changeLines: [] },
    },
  },
]

/** The comments by file name. */
export const goldenCommentRenderers: Readonly<Record<string, () => string>> = {
  'something-to-fix': () =>
    render({
      before: { [getCatalogPath('tidepool')]: tidepoolCatalogYaml },
      after: { [getCatalogPath('tidepool')]: taggedImageCatalogYaml },
      images: {
        findings: [
          createFinding(
            imageByTagRule,
            createCatalogLocation('tidepool', findLineNumber(taggedImageCatalogYaml, 'bundle:v0.5')),
            { reference: 'quay.io/acme/tidepool-bundle:v0.5', digest: imageDigest },
          ),
        ],
      },
    }),
  'two-errors': () => {
    const text = createCatalogYaml('lighthouse', ['1.0.0', '1.1.0 < 1.0.0'], {
      extra: '    skipRanges: <1.1.0\n',
    })
    return render({
      before: { [getCatalogPath('lighthouse')]: createCatalogYaml('lighthouse', ['1.0.0']) },
      after: { [getCatalogPath('lighthouse')]: text },
      images: {
        findings: [
          createFinding(
            imageMissingRule,
            createCatalogLocation('lighthouse', findLineNumber(text, 'version: 1.1.0') - 8),
            { reference: `quay.io/acme/lighthouse-bundle@${imageDigest}`, reason: 'manifest unknown' },
          ),
        ],
      },
    })
  },
  'waiting-for-an-owner': () =>
    render({
      ...lighthousePackageUpdateInputs,
      ownership: {
        findings: [
          createFinding(notOwnerRule, createCatalogLocation('lighthouse', 1), {
            path: getCatalogPath('lighthouse'),
            package: 'lighthouse',
            author: 'alice',
            owners: ['bob'],
            unblock: ['bob'],
          }),
        ],
        waiting: [{ what: 'an owner of lighthouse must approve', who: ['bob'] }],
      },
    }),
  'waiting-for-a-maintainer': () =>
    render({
      before: {},
      after: { [getCatalogPath('lighthouse')]: createCatalogYaml('lighthouse', ['1.0.0']) },
      ownership: {
        findings: [
          createFinding(newPackageRule, createCatalogLocation('lighthouse', 1), {
            path: getCatalogPath('lighthouse'),
            package: 'lighthouse',
            unblock: ['maria', 'max'],
          }),
        ],
        waiting: [{ what: 'a maintainer must approve the change to lighthouse', who: ['maria', 'max'] }],
      },
    }),
  merging: () => render(lighthousePackageUpdateInputs),
  merged: () => render({ ...lighthousePackageUpdateInputs, options: { mergeCommit: mergeCommitSha } }),
  'merged-and-published': () =>
    render({
      ...lighthousePackageUpdateInputs,
      options: {
        mergeCommit: mergeCommitSha,
        published: {
          state: summarizePublicationStatus(publishedImageViews),
          lines: formatPublishedImageLines(publishedImageViews),
        },
      },
    }),
  'base-moved': () => {
    const theirs = findLineNumber(forkedChannelCatalogYaml, 'name: tidepool.v0.5.1')
    return render({
      before: { [getCatalogPath('tidepool')]: createCatalogYaml('tidepool', ['0.4.0', '0.5.1 < 0.4.0']) },
      after: { [getCatalogPath('tidepool')]: forkedChannelCatalogYaml },
      // The newest entry comes from another merge, so the head does not have its lines.
      trace: (line) =>
        line === theirs
          ? { side: 'base', first: line - 2 }
          : { side: 'head', first: line < theirs ? line : line - 2 },
      options: {
        meanwhile: describeChannelHeadConflicts(
          [
            {
              ...{ commit: baseSha, entry: 'tidepool.v0.5.1', replaces: 'tidepool.v0.4.0' },
              ...{ mine: 'tidepool.v0.5.0', isSame: true },
            },
          ],
          new Map([[baseSha, toPullNumber(7)]]),
          pullContext,
          'main',
        ),
      },
    })
  },
  'registry-does-not-answer': () =>
    render({
      ...lighthousePackageUpdateInputs,
      images: {
        summary: '1 image',
        unanswered: [
          {
            question: `whether quay.io/acme/lighthouse-bundle@sha256:0123… exists`,
            reason: 'quay.io returned HTTP 503',
            retryAfter: 30,
          },
        ],
      },
    }),
  'by-hand': () =>
    render({
      before: {},
      after: {},
      ownership: {
        findings: [
          createFinding(
            fileOutsidePackagesRule,
            { file: 'Makefile', line: 1, column: 1 },
            { path: 'Makefile', unblock: ['maria'] },
          ),
        ],
        waiting: [
          {
            what: 'a maintainer must merge the pull request manually because 1 file is not in any package',
            who: ['maria'],
            how: 'merges-by-hand',
          },
        ],
      },
      options: { changeLines: ['- 1 file outside packages: `Makefile`'] },
    }),
  'by-hand-approved': () =>
    render({
      before: {},
      after: {},
      ownership: {
        waiting: [
          {
            what: 'a maintainer must merge the pull request manually because 1 file is not in any package',
            who: ['maria'],
            how: 'merges-by-hand',
            isAgreed: true,
          },
        ],
      },
      options: { changeLines: ['- 1 file outside packages: `Makefile`'] },
    }),
  conflict: () =>
    render({
      before: {},
      after: {},
      gate: { merge: { kind: 'conflict', paths: [getCatalogPath('tidepool')] }, outcomes: [] },
      options: { changeLines: [] },
    }),
  'our-own-failure': () =>
    render({
      ...lighthousePackageUpdateInputs,
      options: { traceId: '3f1c9a52-8d6e-4f7b-9b1a-2c3d4e5f6a7b' },
    }),
}
