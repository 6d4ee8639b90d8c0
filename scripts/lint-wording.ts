// Rejects private terms in names, comments, messages and documents: `npm run language [-- PATH...]`. Exit 1 if it finds any.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import {
  allowedNamePattern,
  persistedTextExceptions,
  replacementByRejectedNameWord,
  rejectedPhrases,
  rejectedFunctionPrefixes,
} from './wording-rules.ts'

interface WordingProblem {
  readonly file: string
  readonly line: number
  readonly what: 'name' | 'comment' | 'string' | 'document'
  readonly text: string
  readonly instead: string
}

const checkedFolders = [
  'src',
  'packages',
  'sandbox',
  'simulate',
  'scripts',
  'bench',
  'test',
  'docs',
  'deploy',
]
// Mutants are code, and the guard's own test contains what it rejects.
const ignoredPathPattern =
  /(?:^|\/)(?:node_modules|dist|language-rules\.ts|CHANGELOG\.md|mutants\.yaml|language\.test\.ts)(?:\/|$)/

/** Tables and columns are persisted. */
const sqlPattern = /\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE (?:TABLE|INDEX)|ALTER TABLE)\b/

/** The words of a camelCase, snake_case or kebab-case name, in lower case. */
function splitWords(name: string): readonly string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
}

function findNameProblem(name: string, isFunction: boolean): string | undefined {
  const words = splitWords(name.replace(allowedNamePattern, '_'))
  if (isFunction && rejectedFunctionPrefixes.includes(words[0] ?? '')) return 'a verb'
  return words
    .map((word) =>
      Object.hasOwn(replacementByRejectedNameWord, word) ? replacementByRejectedNameWord[word] : undefined,
    )
    .find(Boolean)
}

function findTextProblems(
  text: string,
): readonly { readonly found: string; readonly instead: string; readonly at: number }[] {
  // Code, links, commands and ids such as `lands-other-pull` are not prose.
  const prose = text.replace(
    /`[^`\n]*`|<!--.*?-->|\]\([^)\n]*\)|https?:\/\/\S+|\$\{[^}]*\}|--[\w-]+|\b[a-z0-9]+(?:-[a-z0-9]+)+\b/g,
    (found) => ' '.repeat(found.length),
  )
  return rejectedPhrases.flatMap(([phrase, instead]) => {
    const match = phrase.exec(prose)
    return match === null ? [] : [{ found: match[0], instead, at: match.index }]
  })
}

const isPersistedText = (file: string, found: string): boolean =>
  persistedTextExceptions.some((one) => one.file.test(file) && one.text.test(found))

function checkSourceWording(file: string, text: string): readonly WordingProblem[] {
  const problems: WordingProblem[] = []
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const lineOf = (at: number) => source.getLineAndCharacterOfPosition(at).line + 1
  const prose = (what: 'comment' | 'string', value: string, start: number) => {
    if (what === 'string' && sqlPattern.test(value)) return
    for (const { found, instead, at } of findTextProblems(value))
      if (!isPersistedText(file, found))
        problems.push({ file, line: lineOf(start + at), what, text: found, instead })
  }
  const comments = new Set<number>()
  const visit = (node: ts.Node): void => {
    for (const range of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? [])
      if (!comments.has(range.pos)) {
        comments.add(range.pos)
        prose('comment', text.slice(range.pos, range.end), range.pos)
      }
    const { name } = node as ts.NamedDeclaration
    if (
      name !== undefined &&
      ts.isIdentifier(name) &&
      isNamedDeclaration(node) &&
      !isRuleDeclaration(node) &&
      // The columns of tables in tests are named after the recorded data.
      (!file.startsWith('test/') || isModuleLevel(node))
    ) {
      const instead = findNameProblem(name.text, ts.isFunctionDeclaration(node))
      if (instead !== undefined)
        problems.push({ file, line: lineOf(name.getStart()), what: 'name', text: name.text, instead })
    }
    if (
      (ts.isStringLiteralLike(node) ||
        ts.isTemplateHead(node) ||
        ts.isTemplateMiddle(node) ||
        ts.isTemplateTail(node)) &&
      /\S \S/.test(node.text) &&
      // The strings of tests are data, such as recorded messages, except for titles.
      (!file.startsWith('test/') || isTestTitle(node))
    )
      prose('string', text.slice(node.getStart(), node.end), node.getStart())
    ts.forEachChild(node, visit)
  }
  visit(source)
  return problems
}

/** A rule is named like its id, which is persisted. */
const isRuleDeclaration = (node: ts.Node) =>
  ts.isVariableDeclaration(node) && /^define\w*Rule\b/.test(node.initializer?.getText() ?? '')

const isModuleLevel = (node: ts.Node) =>
  ts.isSourceFile(node.parent) || ts.isSourceFile(node.parent.parent?.parent ?? node)

/** The first argument of `test`, `describe` or a function named after one of them. */
function isTestTitle(node: ts.Node): boolean {
  const title = ts.isStringLiteralLike(node) ? node : ts.findAncestor(node, ts.isTemplateExpression)
  return (
    title !== undefined &&
    ts.isCallExpression(title.parent) &&
    title.parent.arguments[0] === title &&
    /^(?:test|describe)/.test(title.parent.expression.getText())
  )
}

const isNamedDeclaration = (node: ts.Node) =>
  ts.isFunctionDeclaration(node) ||
  ts.isClassDeclaration(node) ||
  ts.isInterfaceDeclaration(node) ||
  ts.isTypeAliasDeclaration(node) ||
  ts.isVariableDeclaration(node) ||
  ts.isParameter(node) ||
  // `{ landing }` takes its name from a field, and fields can be persisted.
  (ts.isBindingElement(node) && (node.propertyName !== undefined || ts.isArrayBindingPattern(node.parent)))

function checkDocumentWording(file: string, text: string): readonly WordingProblem[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, (block) => block.replace(/[^\n]/g, ' '))
  return prose.split('\n').flatMap((line, at) =>
    findTextProblems(line)
      .filter(({ found }) => !isPersistedText(file, found))
      .map(({ found, instead }) => ({ file, line: at + 1, what: 'document' as const, text: found, instead })),
  )
}

/** @param file where it is, for the report @param text the content */
export function checkWording(file: string, text: string): readonly WordingProblem[] {
  return file.endsWith('.ts') ? checkSourceWording(file, text) : checkDocumentWording(file, text)
}

function listFiles(root: string, path: string): readonly string[] {
  const full = join(root, path)
  const state = statSync(full, { throwIfNoEntry: false })
  if (state === undefined) return []
  const all = state.isFile()
    ? [path]
    : readdirSync(full, { recursive: true, encoding: 'utf8' }).map((name) => join(path, name))
  return all.filter((file) => /\.(?:ts|md|ya?ml|tpl|txt)$/.test(file) && !ignoredPathPattern.test(file))
}

if (process.argv[1] === import.meta.filename) {
  const positionals = process.argv.slice(2)
  const root = join(import.meta.dirname, '..')
  const paths =
    positionals.length > 0
      ? positionals
      : [...checkedFolders, 'README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'action.yml', 'app.yml']
  const problems = paths
    .flatMap((path) => listFiles(root, path))
    .flatMap((file) => checkWording(file, readFileSync(join(root, file), 'utf8')))
  for (const { file, line, what, text, instead } of problems)
    process.stdout.write(`${file}:${line}: ${what} "${text}": ${instead}\n`)
  process.stdout.write(`${problems.length} language problems\n`)
  process.exitCode = problems.length === 0 ? 0 : 1
}
