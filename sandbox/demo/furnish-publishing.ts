// What the demo's repository and the operator of its bot say of catalog images.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Registry } from '../registry/registry.ts'

export const configPath = '.github/catalog-bot.yml'
export const publishedImage = 'coast/catalog'
const base = 'coast/opm'

/** A base image in the registry, the configuration's section, and the operator's list in a file. */
export function furnishPublishing(
  registry: Registry,
  directory: string,
): { readonly config: string; readonly environment: Readonly<Record<string, string>> } {
  const platforms = ['linux/amd64', 'linux/arm64']
  registry.putImage(base, 'latest', { platforms, files: { 'bin/opm': 'a program' } })
  const targets = join(directory, 'push-targets.yml')
  writeFileSync(
    targets,
    `- github: coast/operators\n  push: [${registry.host}/${publishedImage}]\n  bases: [${registry.host}/${base}]\n`,
  )
  const config = [
    '# Publish each catalog as an image.',
    'publish:',
    '  - catalog: catalogs/*',
    `    repository: ${registry.host}/${publishedImage}`,
    "    tags: ['v{version}']",
    `    base: ${registry.host}/${base}:latest`,
    '',
  ].join('\n')
  return { config, environment: { PUBLISH_TARGETS: targets } }
}
