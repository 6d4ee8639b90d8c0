import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const rulePagesFolder = join(import.meta.dirname, '..', '..', 'docs', 'rules')

/** Writes `rule-pages.json`. All pages are in one file, because a disk allocates at least one block for each file. */
export function writeRulePages(distFolder: string): void {
  const pages = readdirSync(rulePagesFolder)
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .sort()
    .map((name) => [basename(name, '.md'), readFileSync(join(rulePagesFolder, name), 'utf8')])
  writeFileSync(join(distFolder, 'rule-pages.json'), JSON.stringify(Object.fromEntries(pages)))
}
