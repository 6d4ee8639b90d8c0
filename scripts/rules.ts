// Renews all that is made from rules: the lists that the program loads, and the pages that people read.
// `node scripts/rules.ts [--check] [ROOT]`; --check writes nothing and exits 1 when a file would change.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { renderLists } from './rule-lists.ts'

const args = process.argv.slice(2)
const root = args.find((arg) => !arg.startsWith('--')) ?? join(import.meta.dirname, '..')
const isCheck = args.includes('--check')

function renew(files: ReadonlyMap<string, string>): number {
  let changed = 0
  for (const [path, text] of files) {
    const file = join(root, path)
    if (existsSync(file) && readFileSync(file, 'utf8') === text) continue
    changed++
    process.stdout.write(`${path}: ${isCheck ? 'is out of date' : 'renewed'}\n`)
    if (!isCheck) writeFileSync(file, text)
  }
  return changed
}

const lists = renew(renderLists(root))
// Loaded now: the pages are of the rules that the lists name.
const { renderPages } = await import('./rule-pages.ts')
const pages = renew(await renderPages(root))
if (isCheck && lists + pages > 0) process.exitCode = 1
