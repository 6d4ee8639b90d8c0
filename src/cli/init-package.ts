// `init NAME`: an olm.package blob with its description and icon, as opm init prints it.
import { readFileSync } from 'node:fs'
import { sniffImage } from '../catalog/load/sniff-image.ts'
import { formatCatalogJson } from '../catalog/write/format-json.ts'
import { formatCatalogYaml } from '../catalog/write/format-yaml.ts'
import type { WritableCatalog } from '../catalog/write/writable-catalog.ts'
import { decodeLikeGo } from '../go/utf8.ts'
import { setExitCode, print } from './output.ts'

export interface InitPackageOptions {
  readonly defaultChannel?: string
  readonly description?: string
  readonly icon?: string
  readonly output?: 'json' | 'yaml'
}

export function initPackage(name: string, options: InitPackageOptions): void {
  const { defaultChannel = '', description, icon, output = 'json' } = options
  if (name === '') throw new Error('the name of the package is empty')
  const text = description === undefined ? '' : decodeLikeGo(readFileSync(description))
  const catalog: WritableCatalog = {
    packages: [
      {
        schema: 'olm.package',
        name,
        defaultChannel,
        ...(icon !== undefined && { icon: readIcon(icon) }),
        ...(text !== '' && { description: text }),
      },
    ],
    channels: [],
    bundles: [],
    deprecations: [],
    others: [],
  }
  print((output === 'yaml' ? formatCatalogYaml : formatCatalogJson)(catalog))
  setExitCode(0)
}

/** opm rejects SVG, which most operators use and consoles show. */
function readIcon(file: string): { readonly base64data: string; readonly mediatype: string } {
  const bytes = readFileSync(file)
  const found = sniffImage(bytes)
  if (found?.startsWith('image/') !== true)
    throw new Error(`${file} is not an image that a console shows: use SVG, PNG, JPEG or GIF`)
  // opm's own name for it.
  const mediatype = found === 'image/x-icon' ? 'image/vnd.microsoft.icon' : found
  return { base64data: bytes.toString('base64'), mediatype }
}
