// Renders an example for the page of its rule: the violation, and the message of the finding. Everything is
// generated, so the page always matches the rule.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createUnifiedDiff } from '../../src/checks/validation/templates/suggest-patch.ts'
import type { Finding } from '@catalog-bot/findings/finding'
import type { FindingRuleWithoutFormatter } from '@catalog-bot/findings/rule'
import { listFilesRecursively, readExampleCasesForRule, type ExampleCase } from './cases.ts'
import { describeExampleCommitsAndPulls } from './example-commits.ts'
import { evaluateExample, readExampleFileOrEmpty } from './evaluate-example.ts'

/** The block for `<!-- example PATH -->`: `bad/why`, or `bad/why/file` if one file is enough. */
export async function renderExample(
  rule: FindingRuleWithoutFormatter,
  path: string,
  fixtures: string,
): Promise<string> {
  const [kind, why, ...rest] = path.split('/')
  const file = rest.join('/')
  const one = readExampleCasesForRule(rule.id, fixtures).find(
    (each) => each.kind === kind && each.why === why,
  )
  if (one === undefined || (file !== '' && !existsSync(join(one.directory, file))))
    throw new Error(`docs/rules/${rule.id}.md shows fixtures/rules/${rule.id}/${path}, which does not exist`)
  const { findings, message } = await evaluateExample(one)
  const own = findings.filter((found) => found.rule === rule.id)
  const shown =
    one.judges === 'pull request'
      ? renderPullRequestExample(one)
      : (file === '' ? listFilesWithFindings(own) : [file]).flatMap((each) =>
          extractOffendingDocuments(one, rule.id, each),
        )
  return [`<!-- example ${path} -->`, ...shown, ...formatFinding(own, message), '', '<!-- /example -->'].join(
    '\n',
  )
}

function listFilesWithFindings(findings: readonly Finding[]): readonly string[] {
  return [...new Set(findings.flatMap(({ at }) => (at ? [at.file] : [])))]
}

/** The documents in a file that contain a violation, or all documents without a violation. */
function extractOffendingDocuments(one: ExampleCase, id: string, file: string): readonly string[] {
  const text = readExampleFileOrEmpty(one, file).trimEnd()
  if (text === '') return []
  const documents = text.split(/^---\n/m).filter((document) => document.trim() !== '')
  const offending = documents.filter((document) => document.includes(`# ${id}`))
  const part = (offending.length > 0 ? offending : documents)
    .map((document) => document.trimEnd())
    .join('\n---\n')
  const name = one.judges === 'bundle' ? ['', `\`${file}\``] : []
  return [...name, '', `\`\`\`${file.endsWith('.json') ? 'json' : 'yaml'}`, truncateExample(part), '```']
}

/** The changes of a pull request, and its commits and context. */
function renderPullRequestExample({ directory, settings }: ExampleCase): readonly string[] {
  const before = renderDiffs({ directory: join(directory, 'shown') })
  const history = describeExampleCommitsAndPulls(settings)
  return [
    ...(before.length > 0
      ? ['', 'When it was approved, it did this:', ...before, '', 'Now it does this:']
      : []),
    ...renderDiffs({ directory }),
    ...(history.length > 0 ? ['', 'Its commits, newest first:', '', '```text', ...history, '```'] : []),
  ]
}

/** The changes of a pull request, as a diff of each file. */
function renderDiffs({ directory }: Pick<ExampleCase, 'directory'>): readonly string[] {
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
    return patch === undefined ? [] : ['', '```diff', truncateExample(patch.trimEnd()), '```']
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

function formatFinding([first]: readonly Finding[], message: string | undefined): readonly string[] {
  if (first === undefined) return []
  const { what, why, fix } = first
  const messageText = [what, why, fix].filter((text) => text !== '').join('\n')
  return [
    ...['', 'catalog-bot says:', '', '```text', messageText, '```'],
    ...(message === undefined ? [] : ['', 'opm says:', '', '```text', message.trimEnd(), '```']),
  ]
}
