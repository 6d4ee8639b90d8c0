// The comments that people get most, each as the whole of the code makes it: catalogs as text, the checks' own findings,
// fixes and pictures. Only what the world says (reviews, registries, addresses of check runs) is written here.
import { blobSha, commitSha, pullNumber } from '../../src/change/ids.ts'
import { assemble } from '../../src/catalog/facts/assemble.ts'
import { readFile } from '../../src/catalog/load/read-file.ts'
import { describeChange } from '../../src/change/describe-change.ts'
import { changeAsMermaid } from '../../src/change/draw-change.ts'
import type { CheckInput, CheckOutcome } from '../../src/checks/check.ts'
import { fixOf } from '../../src/checks/fixes/fix-finding.ts'
import { imageByTag } from '../../src/checks/images/rules/image-by-tag.ts'
import { imageMissing } from '../../src/checks/images/rules/image-missing.ts'
import { newPackage } from '../../src/checks/ownership/rules/new-package.ts'
import { notOwner } from '../../src/checks/ownership/rules/not-owner.ts'
import { outsidePackages } from '../../src/checks/ownership/rules/outside-packages.ts'
import { validationCheck } from '../../src/checks/validation/validation.ts'
import { defaultConfig } from '../../src/config/config.ts'
import { checkIds } from '../../src/findings/checks.ts'
import type { Finding } from '../../src/findings/finding.ts'
import { finding } from '../../src/findings/rule.ts'
import { decide, type GateInput } from '../../src/gate/decide.ts'
import { changeAsMarkdown, describeChangeLines } from '../../src/messages/describe-change.ts'
import { describeMeanwhile } from '../../src/messages/describe-meanwhile.ts'
import { publicationOf, publishedLines, type ToldImage } from '../../src/messages/publish-check.ts'
import { composeReport } from '../../src/messages/report.ts'
import type { ReportOptions } from '../../src/messages/report-options.ts'
import { summariseChange } from '../../src/messages/summarise-change.ts'
import { findingKey, type ToldFix, type TracedLine } from '../../src/messages/traced-line.ts'
import { aGateInput, aSnapshot, outcomesWith, passed } from '../gate/build.ts'

const digest = `sha256:${'0123456789abcdef'.repeat(4)}`
const layout = { catalogs: [{ root: 'catalogs/v4.20', version: '4.20' }] as const }
const head = commitSha('beac5c8d'.padEnd(40, '1'))
const base = commitSha('af7c16ab'.padEnd(40, '2'))
const page = {
  web: 'https://github.com',
  repository: { owner: 'acme', name: 'catalog' },
  pull: pullNumber(12),
}
const runs = new Map(
  checkIds.map((id, at) => [`catalog-bot / ${id}`, `https://github.com/acme/catalog/runs/900${at}`]),
)

/** Entries as `1.1.0 < 1.0.0` (replaces), newest last. */
function catalog(
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
  const imageOf = (version = '') =>
    version === newest && more.image !== undefined ? more.image : `quay.io/acme/${name}-bundle@${digest}`
  const bundles = parts.map(
    ([version]) => `---
schema: olm.bundle
package: ${name}
name: ${name}.v${version}
image: ${imageOf(version)}
relatedImages:
  - name: bundle
    image: ${imageOf(version)}
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

const fileOf = (name: string) => `catalogs/v4.20/${name}/catalog.yaml`

type Files = Readonly<Record<string, string>>

const bytesOf = (text: string) => new TextEncoder().encode(text)

/** What lies between two trees of one catalog. */
function changeOf(before: Files, after: Files) {
  const [{ root, version }] = layout.catalogs
  const read = (files: Files) =>
    assemble(
      Object.entries(files).map(([path, text]) => ({
        path: path.slice(root.length + 1),
        facts: readFile(bytesOf(text)),
      })),
    )
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].map((path) => ({
    path,
    ...(before[path] !== undefined && { before: { mode: '100644', oid: blobSha('b'.repeat(40)) } }),
    ...(after[path] !== undefined && { after: { mode: '100644', oid: blobSha('a'.repeat(40)) } }),
  }))
  const catalogs = paths.length === 0 ? [] : [{ root, version, base: read(before), result: read(after) }]
  const sides = { base: before, result: after }
  const texts = {
    read: (side: 'base' | 'result', path: string) => {
      const text = sides[side][path]
      return text === undefined ? undefined : bytesOf(text)
    },
  }
  return describeChange({ paths, layout, catalogs, texts })
}

interface Given {
  readonly before: Files
  readonly after: Files
  readonly gate?: Partial<GateInput>
  readonly ownership?: Partial<CheckOutcome>
  readonly images?: Partial<CheckOutcome>
  /** Where the lines of the result stand. Absent: at the same number of the head. */
  readonly trace?: (line: number) => Pick<TracedLine, 'side' | 'first'>
  readonly options?: Partial<ReportOptions>
}

function comment({ before, after, gate, ownership, images, trace, options }: Given): string {
  const change = changeOf(before, after)
  const ownerFiles = { base: new Map<string, string>(), result: new Map<string, string>() }
  const judged = validationCheck.judge(
    { change, config: defaultConfig, ownerFiles } as unknown as CheckInput,
    {
      get: () => {
        throw new Error('validation asks nothing of a catalog without templates')
      },
    },
  )
  const outcomes = outcomesWith(
    passed('ownership', { summary: 'alice owns all of it', ...ownership }),
    judged,
    passed('images', { summary: '2 images found', ...images }),
    passed('install', { summary: 'installs with OLM v0', isOptional: true }),
  )
  const snapshot = aSnapshot({ pull: page.pull, head, base })
  const verdict = decide(aGateInput({ snapshot, outcomes, ...gate }))
  const traced = new Map<string, TracedLine>()
  const add = (file: string, line: number, last = line) => {
    const { side, first } = trace?.(line) ?? { side: 'head', first: line }
    traced.set(`${file} ${line}`, { file, line, side, first, last: first + last - line })
  }
  const fixes: ToldFix[] = []
  for (const found of outcomes.flatMap(({ findings }): readonly Finding[] => findings)) {
    if (found.at === undefined) continue
    add(found.at.file, found.at.line)
    const text = after[found.at.file]
    const fix = text === undefined ? undefined : fixOf(found, bytesOf(text))
    if (fix === undefined) continue
    add(fix.file, fix.first, fix.last)
    fixes.push({ finding: findingKey(found), fix })
  }
  return composeReport(verdict, {
    summary: summariseChange(change),
    changeLines: changeAsMarkdown(describeChangeLines(change)),
    graph: changeAsMermaid(change),
    change: 'c0ffee123456'.repeat(3),
    page,
    runs,
    rulesUrl: 'https://github.com/acme/catalog-bot/blob/main/docs/rules',
    lines: [...traced.values()],
    fixes,
    ...options,
  }).comment
}

const update = {
  before: { [fileOf('lighthouse')]: catalog('lighthouse', ['1.0.0', '1.1.0 < 1.0.0']) },
  after: { [fileOf('lighthouse')]: catalog('lighthouse', ['1.0.0', '1.1.0 < 1.0.0', '1.2.0 < 1.1.0']) },
}
const tidepool = catalog('tidepool', ['0.4.0', '0.5.0 < 0.4.0'])
const forked = catalog('tidepool', ['0.4.0', '0.5.0 < 0.4.0', '0.5.1 < 0.4.0'])
const at = (name: string, line: number) => ({ file: fileOf(name), line, column: 8 })
const tagged = catalog('tidepool', ['0.4.0', '0.5.0 < 0.4.0', '0.5.1 < 0.4.0'], {
  image: 'quay.io/acme/tidepool-bundle:v0.5',
})
const lineOf = (text: string, part: string) => text.split('\n').findIndex((line) => line.includes(part)) + 1
const landed = commitSha('1656dda0'.padEnd(40, '3'))
const published: readonly ToldImage[] = [
  {
    root: 'catalogs/v4.20',
    image: 'quay.io/acme/catalog',
    tags: ['v4.20'],
    state: {
      ...{ kind: 'published', digest, unchanged: false, seconds: 12 },
      ...{ moved: [], changeLines: [] },
    },
  },
]

/** By the name of its file. */
export const goldenComments: Readonly<Record<string, () => string>> = {
  'something-to-fix': () =>
    comment({
      before: { [fileOf('tidepool')]: tidepool },
      after: { [fileOf('tidepool')]: tagged },
      images: {
        findings: [
          finding(imageByTag, at('tidepool', lineOf(tagged, 'bundle:v0.5')), {
            reference: 'quay.io/acme/tidepool-bundle:v0.5',
            digest,
          }),
        ],
      },
    }),
  'two-errors': () => {
    const text = catalog('lighthouse', ['1.0.0', '1.1.0 < 1.0.0'], { extra: '    skipRanges: <1.1.0\n' })
    return comment({
      before: { [fileOf('lighthouse')]: catalog('lighthouse', ['1.0.0']) },
      after: { [fileOf('lighthouse')]: text },
      images: {
        findings: [
          finding(imageMissing, at('lighthouse', lineOf(text, 'version: 1.1.0') - 8), {
            reference: `quay.io/acme/lighthouse-bundle@${digest}`,
            reason: 'manifest unknown',
          }),
        ],
      },
    })
  },
  'waiting-for-an-owner': () =>
    comment({
      ...update,
      ownership: {
        findings: [
          finding(notOwner, at('lighthouse', 1), {
            path: fileOf('lighthouse'),
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
    comment({
      before: {},
      after: { [fileOf('lighthouse')]: catalog('lighthouse', ['1.0.0']) },
      ownership: {
        findings: [
          finding(newPackage, at('lighthouse', 1), {
            path: fileOf('lighthouse'),
            package: 'lighthouse',
            unblock: ['maria', 'max'],
          }),
        ],
        waiting: [{ what: 'a maintainer must approve the change to lighthouse', who: ['maria', 'max'] }],
      },
    }),
  merging: () => comment(update),
  merged: () => comment({ ...update, options: { landed } }),
  'merged-and-published': () =>
    comment({
      ...update,
      options: { landed, published: { state: publicationOf(published), lines: publishedLines(published) } },
    }),
  'base-moved': () => {
    const theirs = lineOf(forked, 'name: tidepool.v0.5.1')
    return comment({
      before: {
        [fileOf('tidepool')]: catalog('tidepool', ['0.4.0', '0.5.1 < 0.4.0']),
      },
      after: { [fileOf('tidepool')]: forked },
      // The newest entry came with another merge: the head has none of its lines.
      trace: (line) =>
        line === theirs
          ? { side: 'base', first: line - 2 }
          : { side: 'head', first: line < theirs ? line : line - 2 },
      options: {
        meanwhile: describeMeanwhile(
          [
            {
              ...{ commit: base, entry: 'tidepool.v0.5.1', replaces: 'tidepool.v0.4.0' },
              ...{ mine: 'tidepool.v0.5.0', isSame: true },
            },
          ],
          new Map([[base, pullNumber(7)]]),
          page,
          'main',
        ),
      },
    })
  },
  'registry-does-not-answer': () =>
    comment({
      ...update,
      images: {
        summary: '1 image',
        unanswered: [
          {
            question: `whether quay.io/acme/lighthouse-bundle@sha256:0123… is there`,
            reason: 'quay.io answers 503',
            retryAfter: 30,
          },
        ],
      },
    }),
  'by-hand': () =>
    comment({
      before: {},
      after: {},
      ownership: {
        findings: [
          finding(
            outsidePackages,
            { file: 'Makefile', line: 1, column: 1 },
            { path: 'Makefile', unblock: ['maria'] },
          ),
        ],
        waiting: [
          {
            what: 'a maintainer must merge it by hand: 1 file is outside all packages',
            who: ['maria'],
            how: 'merges-by-hand',
          },
        ],
      },
      options: { changeLines: ['- 1 file outside packages: `Makefile`'] },
    }),
  'by-hand-approved': () =>
    comment({
      before: {},
      after: {},
      ownership: {
        waiting: [
          {
            what: 'a maintainer must merge it by hand: 1 file is outside all packages',
            who: ['maria'],
            how: 'merges-by-hand',
            isAgreed: true,
          },
        ],
      },
      options: { changeLines: ['- 1 file outside packages: `Makefile`'] },
    }),
  conflict: () =>
    comment({
      before: {},
      after: {},
      gate: { merge: { kind: 'conflict', paths: [fileOf('tidepool')] }, outcomes: [] },
      options: { changeLines: [] },
    }),
  'our-own-failure': () =>
    comment({ ...update, options: { traceId: '3f1c9a52-8d6e-4f7b-9b1a-2c3d4e5f6a7b' } }),
}
