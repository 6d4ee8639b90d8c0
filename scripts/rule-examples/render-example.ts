// Renders an example for the page of its rule: the violation, and the messages of catalog-bot and opm. Everything is
// generated, so the page always matches the rule.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createUnifiedDiff } from '../../src/checks/validation/templates/suggest-patch.ts'
import type { Finding } from '@catalog-bot/findings/finding'
import type { AnyFindingRule } from '@catalog-bot/findings/rule'
import { listFilesRecursively, readExampleCasesForRule, type ExampleCase } from './cases.ts'
import { describeExampleCommitsAndPulls } from './example-commits.ts'
import { evaluateRuleExample, readExampleFileOrEmpty } from './evaluate-example.ts'

export interface RuleExample {
  readonly name: string
  readonly finding: Finding
  readonly opmMessage: string
  readonly blocks: readonly CodeBlock[]
}

interface CodeBlock {
  readonly caption: string
  readonly language: string
  readonly text: string
}

/** The bad examples of a rule. The first is at `path`: `bad/why`, or `bad/why/file` if one file is enough. */
export async function readRuleExamples(
  rule: AnyFindingRule,
  path: string,
  fixtures: string,
): Promise<readonly RuleExample[]> {
  const [, why, ...rest] = path.split('/')
  const file = rest.join('/')
  const bad = readExampleCasesForRule(rule.id, fixtures).filter(({ kind }) => kind === 'bad')
  const first = bad.find((one) => one.why === why)
  if (first === undefined || !existsSync(join(first.directory, file)))
    throw new Error(`docs/rules/${rule.id}.md shows fixtures/rules/${rule.id}/${path}, which does not exist`)
  const others = bad.filter((one) => one !== first).map((one) => readRuleExample(rule, one, ''))
  return Promise.all([readRuleExample(rule, first, file), ...others])
}

async function readRuleExample(rule: AnyFindingRule, one: ExampleCase, file: string): Promise<RuleExample> {
  const { findings, message = '' } = await evaluateRuleExample(one)
  const own = findings.filter((found) => found.rule === rule.id)
  const [finding] = own
  if (finding === undefined) throw new Error(`fixtures/rules/${rule.id}/bad/${one.why} has no ${rule.id}`)
  const blocks =
    one.judges === 'pull request'
      ? listPullRequestExampleCodeBlocks(one)
      : (file === '' ? listFilesWithFindings(own) : [file]).flatMap((each) =>
          extractOffendingDocuments(one, rule.id, each),
        )
  return { name: one.why.replaceAll('-', ' '), finding, opmMessage: message.trimEnd(), blocks }
}

/** The whole example, as Markdown lines. A message that the page already contains is omitted. */
export function renderFullExample(example: RuleExample, isFirst: boolean): readonly string[] {
  const { what, why, fix } = example.finding
  const message = [what, why, fix].filter((text) => text !== '').join('\n')
  return [
    ...['', `## Example: ${example.name}`],
    ...example.blocks.flatMap((block) => [
      ...(block.caption === '' ? [] : ['', block.caption]),
      ...renderCodeBlock(block.language, truncateExample(block.text)),
    ]),
    ...(isFirst ? [] : ['', 'catalog-bot reports:', ...renderCodeBlock('text', message)]),
    ...(example.opmMessage ? ['', 'opm reports:', ...renderCodeBlock('text', example.opmMessage)] : []),
  ]
}

/** The lines of an example that show the violation, as Markdown lines: in its commits, or in its files. */
export function renderExampleExcerpt({ blocks }: RuleExample, id: string): readonly string[] {
  const current = blocks.filter(({ caption }) => caption !== approvedChangeCaption)
  const block =
    current.find(({ language }) => language === 'text') ??
    current.find(({ text }) => text.includes(`# ${id}`)) ??
    current[0]
  return block === undefined ? [] : renderCodeBlock(block.language, createExcerpt(block.text, id))
}

const renderCodeBlock = (language: string, text: string) => ['', `\`\`\`${language}`, text, '```']

const maxLinesWithoutShortening = 10
const maxExcerptLines = 7

/** The marked or changed lines, the lines that contain them, and their neighbors. `…` replaces lines between them. */
function createExcerpt(text: string, id: string): string {
  const lines = text.split('\n')
  const limit = lines.length <= maxLinesWithoutShortening ? maxLinesWithoutShortening : maxExcerptLines
  const findLines = (pattern: RegExp) => lines.flatMap((line, at) => (pattern.test(line) ? [at] : []))
  const marked = findLines(new RegExp(`# ${id}$`))
  const wanted = [
    ...findLines(/^\+\+\+ /),
    ...marked.flatMap((at) => [at, ...findAncestorLineIndices(lines, at)]),
    ...marked.flatMap((at) => [at + 1, at + 2, at - 1, at + 3, at - 2]),
    ...findLines(/^[-+] /),
    ...lines.keys(),
  ].filter((at) => lines[at] !== undefined && !lines[at].startsWith('@@'))
  const selected = [...new Set(wanted)].slice(0, limit).sort((a, b) => a - b)
  const isAfterGap = (at: number) => at > 0 && selected[at] !== (selected[at - 1] ?? 0) + 1
  return selected.flatMap((index, at) => [...(isAfterGap(at) ? ['…'] : []), lines[index]]).join('\n')
}

/** The indices of the lines above that are indented less, innermost first. */
function findAncestorLineIndices(lines: readonly string[], at: number): readonly number[] {
  let indent = measureIndent(lines[at] ?? '')
  const ancestors: number[] = []
  for (let above = at - 1; above >= 0 && indent > 0; above--) {
    const own = measureIndent(lines[above] ?? '')
    if (own >= indent) continue
    indent = own
    ancestors.push(above)
  }
  return ancestors
}

const measureIndent = (line: string): number => /^[-+]? *(?:- )?/.exec(line)?.[0].length ?? 0

function listFilesWithFindings(findings: readonly Finding[]): readonly string[] {
  return [...new Set(findings.flatMap(({ at }) => (at ? [at.file] : [])))]
}

/** The documents in a file that contain a violation, or all documents without a violation. */
function extractOffendingDocuments(one: ExampleCase, id: string, file: string): readonly CodeBlock[] {
  const text = readExampleFileOrEmpty(one, file).trimEnd()
  if (text === '') return []
  const documents = text.split(/^---\n/m).filter((document) => document.trim() !== '')
  const offending = documents.filter((document) => document.includes(`# ${id}`))
  const part = (offending.length > 0 ? offending : documents)
    .map((document) => document.trimEnd())
    .join('\n---\n')
  const language = file.endsWith('.json') ? 'json' : 'yaml'
  return [{ caption: one.judges === 'bundle' ? `\`${file}\`` : '', language, text: part }]
}

const approvedChangeCaption = 'When the pull request was approved, it made these changes:'

/** The changes of a pull request, and its commits and context. */
function listPullRequestExampleCodeBlocks({ directory, settings }: ExampleCase): readonly CodeBlock[] {
  const before = listExampleFileDiffs({ directory: join(directory, 'shown') })
  const history = describeExampleCommitsAndPulls(settings).join('\n')
  const createDiffBlock = (caption: string) => (text: string) => ({ caption, language: 'diff', text })
  return [
    ...before.map(createDiffBlock(approvedChangeCaption)),
    ...listExampleFileDiffs({ directory }).map(createDiffBlock(before.length > 0 ? 'Now it does this:' : '')),
    ...(history ? [{ caption: 'Its commits, newest first:', language: 'text', text: history }] : []),
  ]
}

/** The changes of a pull request, as a diff of each file. */
function listExampleFileDiffs({ directory }: Pick<ExampleCase, 'directory'>): readonly string[] {
  const sides = ['base', 'result'].map((side) => new Set(listFilesRecursively(join(directory, side))))
  const [base, result] = sides
  return [...new Set(sides.flatMap((side) => [...side]))].sort().flatMap((path) => {
    const readSideText = (side: string) => readExampleFileOrEmpty({ directory: join(directory, side) }, path)
    const [before, after] = [readSideText('base'), readSideText('result')]
    if (before === after) return []
    const patch =
      base?.has(path) && result?.has(path)
        ? createUnifiedDiff(path, before, after, { edits: 1000, characters: 100_000 })
        : [
            `--- ${base?.has(path) ? `a/${path}` : '/dev/null'}`,
            `+++ ${result?.has(path) ? `b/${path}` : '/dev/null'}`,
            ...prefixEachLine('-', before),
            ...prefixEachLine('+', after),
          ].join('\n')
    return patch === undefined ? [] : [patch.trimEnd()]
  })
}

function prefixEachLine(prefix: string, text: string): readonly string[] {
  return text === ''
    ? []
    : text
        .trimEnd()
        .split('\n')
        .map((line) => `${prefix}${line}`)
}

/** Long examples are truncated, because a page shows a rule and not a catalog. */
const maxExampleLines = 60

function truncateExample(text: string): string {
  const lines = text.split('\n')
  return lines.length <= maxExampleLines ? text : [...lines.slice(0, maxExampleLines - 1), '…'].join('\n')
}
