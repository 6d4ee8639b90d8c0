// The licenses of packages that are bundled into another package. Redistribution requires their license texts.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from './split-modules.ts'

/** One text for all packages that contain any of these files, which are relative to the root. Throws if a package has no license. */
export function collectLicenses(files: readonly string[]): string {
  const folders = new Set(
    files.flatMap((file) => /^.*\bnode_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0] ?? []),
  )
  return [...folders]
    .map((path) => {
      const folder = join(projectRoot, path)
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
        readonly name: string
        readonly version: string
        readonly license?: string
      }
      const file = readdirSync(folder).find((one) => /^(licen[cs]e|copying)(\.|-|$)/i.test(one))
      if (file === undefined && license === undefined) throw new Error(`${name} has no license`)
      const licenseText = file === undefined ? '' : `\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
      const notice = existsSync(join(folder, 'NOTICE'))
        ? `\n${readFileSync(join(folder, 'NOTICE'), 'utf8').trim()}\n`
        : ''
      return { name, text: `${name} ${version} (${license ?? 'see below'})\n${licenseText}${notice}` }
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ text }) => text)
    .join(`\n${'-'.repeat(80)}\n\n`)
}
