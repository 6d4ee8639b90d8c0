// Maintains the lists of rules. A list is a file with a marker that it is generated, and with the folder whose rules it
// contains. Rules are found by `export const … = define…Rule(`, so no list is edited manually. The command line is one
// script that must start quickly, so it loads rules from lists instead of searching for them at run time.
import { readFileSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { listFiles, readWorkspacePackages } from './workspaces.ts'

const generatedFileMarker = 'Made by `npm run rule-pages`'

/** Specifies the folder of a list, and precedes it. */
const ruleListPattern =
  /^\/\*\* The rules of (?<folder>\.\/[\w-]*), sorted by id\. \*\/\nexport const (?<name>\w+): readonly (?<type>\w+)\[\] = collectRules\(\[[^\]]*\]\)\n/m

/** The line width of prettier. */
const maxLineWidth = 110

/** The expected contents of every list below `root`, by path from the root. Throws an Error for an invalid list. */
export function renderRuleLists(root: string): Map<string, string> {
  return new Map([...readRuleLists(root)].map(([path, text]) => [path, renderRuleList(root, path, text)]))
}

/** The folders whose rules are in a list, relative to the root. A new folder need not exist yet. */
export function findListedRuleFolders(root: string): ReadonlySet<string> {
  return new Set(
    [...readRuleLists(root)].map(([path, text]) =>
      join(dirname(path), ruleListPattern.exec(text)?.groups?.['folder'] ?? '').replace(/\/$/, ''),
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
    listSourceFiles(root).flatMap((path) => findExportedRules(root, path).map((id) => [id, path] as const)),
  )
}

function renderRuleList(root: string, path: string, text: string): string {
  const { folder, name, type } = ruleListPattern.exec(text)?.groups ?? {}
  if (folder === undefined) throw new Error(`${path} does not name a folder with rules`)
  const modules = readdirSync(join(root, dirname(path), folder))
    .filter((file) => findExportedRules(root, join(dirname(path), folder, file)).length > 0)
    .sort()
    .map((file) => ({ file, name: toCamelCase(basename(file, '.ts')) }))
  const head = text.slice(0, text.indexOf('import '))
  const own = [...text.matchAll(/^import (?!\*).*\n/gm)].map(([line]) => line)
  const imports = modules.map(
    (its) => `import * as ${its.name} from '${folder.replace(/\/?$/, '/')}${its.file}'\n`,
  )
  const declared = `export const ${name}: readonly ${type}[] = collectRules([`
  const names = modules.map((its) => its.name)
  return `${head}${own.join('')}${imports.join('')}
/** The rules of ${folder}, sorted by id. */
${renderWrappedNameList(declared, names, '])')}`
}

export function toCamelCase(kebabCase: string): string {
  return kebabCase.replaceAll(/-(?<letter>\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** Names between brackets, formatted like prettier. */
function renderWrappedNameList(before: string, names: readonly string[], after: string): string {
  const line = `${before}${names.join(', ')}${after}\n`
  return line.length <= maxLineWidth + 1
    ? line
    : `${before}\n${names.map((name) => `  ${name},\n`).join('')}${after}\n`
}

/** The IDs of the rules that a file defines. */
function findExportedRules(root: string, file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8')
  return [...text.matchAll(/^export const \w+ = define\w*Rule\b[\s\S]*?^ +id: '(?<id>[^']*)'/gm)].map(
    ({ groups: { id = '' } = {} }) => id,
  )
}

function listSourceFiles(root: string): string[] {
  const folders = ['src', ...readWorkspacePackages(root).map(({ folder }) => join(folder, 'src'))]
  return folders.flatMap((folder) => listFiles(root, folder, /\.ts$/)).sort()
}
