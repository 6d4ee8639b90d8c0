// `init NAME`: prints an olm.package blob with a description and an icon, like opm init.
import { readFileSync } from 'node:fs'
import { sniffImage } from '@catalog-bot/fbc/load/sniff-image'
import { formatCatalogJson } from '@catalog-bot/fbc/write/format-json'
import { formatCatalogYaml } from '@catalog-bot/fbc/write/format-yaml'
import type { WritableCatalog } from '@catalog-bot/fbc/write/writable-catalog'
import { decodeLikeGo } from '@catalog-bot/fbc/go/utf8'
import { setExitCode, print } from './output.ts'

export interface InitPackageOptions {
  readonly defaultChannel?: string
  readonly description?: string
  readonly icon?: string
  readonly output?: 'json' | 'yaml'
}

export function initPackage(name: string, options: InitPackageOptions): void {
  const { defaultChannel = '', description, icon, output = 'json' } = options
  if (name === '') throw new Error('the package name is empty')
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

/** Also accepts SVG, which opm rejects although most Operators use it and consoles display it. */
function readIcon(file: string): { readonly base64data: string; readonly mediatype: string } {
  const bytes = readFileSync(file)
  const found = sniffImage(bytes)
  if (found?.startsWith('image/') !== true)
    throw new Error(`${file} is not an image in a supported format: use SVG, PNG, JPEG, or GIF`)
  // The media type that opm uses.
  const mediatype = found === 'image/x-icon' ? 'image/vnd.microsoft.icon' : found
  return { base64data: bytes.toString('base64'), mediatype }
}
