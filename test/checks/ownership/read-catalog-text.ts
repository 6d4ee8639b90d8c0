// Parses catalog files for the tests of ownership, just enough to find the package of each blob. It is deliberately small
// and independent of the parser in the project.
import { parse } from 'yaml'
import type { Catalog } from '../../../packages/fbc/src/facts/catalog.ts'
import { createCatalog } from '../../packages/fbc/facts/create-facts.ts'

type MutableCatalog = { -readonly [Key in Exclude<keyof Catalog, 'oddities'>]: Catalog[Key][number][] }

const catalogFileStartPosition = { line: 1, column: 1 }
const textEncoder = new TextEncoder()

/** The facts of catalog files by their paths in the catalog. YAML with `---` between documents. */
export function readCatalog(files: ReadonlyMap<string, string>): Catalog {
  const catalog = createCatalog() as MutableCatalog
  for (const [path, text] of files) {
    catalog.files.push({ path, bytes: textEncoder.encode(text).length })
    if (/\.(?:ya?ml|json)$/.test(path)) readCatalogFile(path, text, catalog)
  }
  return catalog
}

function readCatalogFile(file: string, text: string, catalog: MutableCatalog): void {
  let start = 0
  let line = 1
  let document = 0
  for (const part of text.split(/^---[ \t]*\n/m)) {
    const end = start + textEncoder.encode(part).length
    if (part.trim() !== '')
      addBlobToCatalog({ file, document: document++, start, end, line, column: 1 }, part, catalog)
    start = end + 4
    line += part.split('\n').length
  }
}

function addBlobToCatalog(
  location: Catalog['packages'][number]['place'],
  text: string,
  catalog: MutableCatalog,
): void {
  const top = (key: string): string => {
    const value = new RegExp(`^"?${key}"?: *(.*?) *$`, 'm').exec(text)?.[1] ?? ''
    return value.replace(/^(["'])(.*)\1$/, '$2')
  }
  const schema = top('schema')
  const name = top('name')
  const of = top('package')
  if (schema === 'olm.package')
    catalog.packages.push({ place: location, name, defaultChannel: top('defaultChannel'), description: '' })
  else if (schema === 'olm.channel') {
    const { entries = [] } = parse(text) as {
      entries?: { name: string; replaces?: string; skips?: string[] }[]
    }
    catalog.channels.push({
      place: location,
      name,
      package: of,
      entries: entries.map((entry) => ({
        mark: catalogFileStartPosition,
        replaces: '',
        skips: [],
        skipRange: '',
        ...entry,
      })),
    })
  } else if (schema === 'olm.bundle')
    catalog.bundles.push({
      place: location,
      name,
      package: of,
      image: top('image'),
      properties: [],
      relatedImages: [],
    })
  else if (schema === 'olm.deprecations') {
    const { entries = [] } = parse(text) as {
      entries?: { message: string; reference: { schema: string; name?: string } }[]
    }
    catalog.deprecations.push({
      place: location,
      package: of,
      entries: entries.map(({ message, reference }) => ({
        mark: catalogFileStartPosition,
        name: '',
        ...reference,
        message,
      })),
    })
  } else if (schema !== '') catalog.others.push({ place: location, schema, package: of, name })
}

const createBundleYaml = (of: string, version: string, more = ''): string =>
  `---\nschema: olm.bundle\nname: ${of}.v${version}\npackage: ${of}\nimage: quay.io/test/${of}@sha256:${'0'.repeat(64)}\nproperties:\n- type: olm.package\n  value:\n    packageName: ${of}\n    version: ${version}\n${more}`

/** A catalog file of one package with a chain of versions in the channel stable. */
export function createCatalogYaml(
  of: string,
  versions: readonly string[],
  more: { icon?: string; bundle?: string } = {},
): string {
  const entries = versions
    .map(
      (version, at) =>
        `- name: ${of}.v${version}\n${at > 0 ? `  replaces: ${of}.v${versions[at - 1]}\n` : ''}`,
    )
    .join('')
  return [
    `---\nschema: olm.package\nname: ${of}\ndefaultChannel: stable\n${more.icon ? `description: ${more.icon}\n` : ''}`,
    `---\nschema: olm.channel\nname: stable\npackage: ${of}\nentries:\n${entries}`,
    ...versions.map((version) => createBundleYaml(of, version, more.bundle)),
  ].join('')
}
