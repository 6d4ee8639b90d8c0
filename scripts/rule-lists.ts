// Maintains the lists of rules. A list is a file with a marker that it is generated, and with the folder or the file
// whose rules it contains. Rules are found by `export const … = define…Rule(`, so no list is edited manually. The
// command line is one script that must start quickly, so it loads rules from lists instead of searching for them at
// run time.
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { listFiles, readWorkspacePackages } from './workspaces.ts'

const generatedFileMarker = 'Made by `npm run rule-pages`'

/** Specifies the rules of a list, and precedes it. */
const ruleListPattern =
  /\/\*\* The rules of (?<source>\.\/[\w./-]*), (?<order>sorted by id|as they stand there)\. \*\/\nexport const (?<name>\w+): readonly (?<type>\w+)\[\] = \[[^\]]*\]\n/g

/** The line width of prettier. */
const maxLineWidth = 110

interface ExportedRule {
  readonly id: string
  readonly name: string
  readonly file: string
}

/**
 * The expected contents of every list below `root`, by path from the root. Throws an Error for an invalid list.
 */
export function renderRuleLists(root: string): Map<string, string> {
  return new Map([...readRuleLists(root)].map(([path, text]) => [path, renderRuleList(root, path, text)]))
}

/** The folders and files whose rules are in a list, relative to the root. A new folder need not exist yet. */
export function findRuleListSources(root: string): ReadonlySet<string> {
  return new Set(
    [...readRuleLists(root)].flatMap(([path, text]) =>
      [...text.matchAll(ruleListPattern)].map(({ groups: { source = '' } = {} }) =>
        join(dirname(path), source).replace(/\/$/, ''),
      ),
    ),
  )
}

/** The current contents of every list below `root`. */
function readRuleLists(root: string): Map<string, string> {
  const lists = new Map<string, string>()
  for (const path of listSourceFiles(root)) {
    const text = readFileSync(join(root, path), 'utf8')
    if (text.startsWith('//') && text.split('\nimport ', 1)[0]?.includes(generatedFileMarker))
      lists.set(path, text)
  }
  return lists
}

/** The IDs of the rules below `root`, with the file that defines each. */
export function findDefinedRules(root: string): Map<string, string> {
  return new Map(
    listSourceFiles(root).flatMap((path) =>
      findExportedRules(root, path).map(({ id }) => [id, path] as const),
    ),
  )
}

function renderRuleList(root: string, path: string, text: string): string {
  const imports = new Map<string, string[]>()
  const blocks = [...text.matchAll(ruleListPattern)]
  if (blocks.length === 0) throw new Error(`${path} does not name a folder with rules`)
  const written = blocks.map(({ groups: { source = '', order = '', name = '', type = '' } = {} }) => {
    const there = join(dirname(path), source)
    const files = statSync(join(root, there)).isDirectory()
      ? readdirSync(join(root, there)).map((file) => join(there, file))
      : [there]
    const found = files
      .filter((file) => file.endsWith('.ts') && file !== path)
      .flatMap((file) => findExportedRules(root, file))
    if (order === 'sorted by id') found.sort((a, b) => (a.id < b.id ? -1 : 1))
    for (const { file, name: exported } of found) {
      const from = source.endsWith('.ts') ? source : `${source.replace(/\/$/, '')}/${basename(file)}`
      const from_ = from.replace(/^\.\/\.\//, './')
      imports.set(from_, [...(imports.get(from_) ?? []), exported])
    }
    const declared = `export const ${name}: readonly ${type}[] =`
    const names = found.map((one) => one.name)
    return `/** The rules of ${source}, ${order}. */\n${renderWrappedNameList(`${declared} [`, names, ']')}`
  })
  const head = text.slice(0, text.indexOf('import '))
  const types = [...text.matchAll(/^import type .*\n/gm)].map(([line]) => line)
  const values = [...imports]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([from, names]) => renderWrappedNameList('import {', names.toSorted(), `} from '${from}'`))
  return [head, ...types, ...values, '\n', written.join('\n')].join('')
}

/** Names between brackets, formatted like prettier. */
function renderWrappedNameList(before: string, names: readonly string[], after: string): string {
  const padding = before.endsWith('{') ? ' ' : ''
  const line = `${before}${padding}${names.join(', ')}${padding}${after}`
  return line.length <= maxLineWidth
    ? `${line}\n`
    : `${before}\n${names.map((name) => `  ${name},\n`).join('')}${after}\n`
}

/** The rules that a file defines, in their order. */
function findExportedRules(root: string, file: string): ExportedRule[] {
  const text = readFileSync(join(root, file), 'utf8')
  return [
    ...text.matchAll(/^export const (?<name>\w+) = define\w*Rule\b[\s\S]*?^ +id: '(?<id>[^']*)'/gm),
  ].map(({ groups: { name = '', id = '' } = {} }) => ({ id, name, file }))
}

function listSourceFiles(root: string): string[] {
  const folders = ['src', ...readWorkspacePackages(root).map(({ folder }) => join(folder, 'src'))]
  return folders.flatMap((folder) => listFiles(root, folder, /\.ts$/)).sort()
}
