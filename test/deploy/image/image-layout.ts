// Reads the OCI layout that .ci/build-image wrote. Its path is in the environment, because building takes minutes.
import { mkdtempSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe } from '@jest/globals'
import { findMissingProgram, reportSkippedTest } from '../../left-out.ts'

const imageLayoutPath = process.env['IMAGE_LAYOUT'] ?? ''

export interface ImageDescriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

export interface ImageConfig {
  readonly config: { readonly Labels: Readonly<Record<string, string>> }
  readonly rootfs: { readonly type: 'layers'; readonly diff_ids: readonly string[] }
}

export interface ImageLayout {
  readonly path: string
  readonly layers: readonly ImageDescriptor[]
  readonly config: ImageConfig
  readonly blobPath: (digest: string) => string
}

/** Skips the tests if there is no image to test, or if one of the programs is missing. */
export function describeIfImageAvailable(
  programs: readonly string[],
): typeof describe | typeof describe.skip {
  if (imageLayoutPath === '') reportSkippedTest('container image')
  return imageLayoutPath === '' || findMissingProgram(...programs) !== undefined ? describe.skip : describe
}

/** Reads the only image of a layout. */
export function readImageLayout(path = imageLayoutPath): ImageLayout {
  const blobPath = (digest: string) => join(path, 'blobs', digest.replace(':', '/'))
  const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as unknown
  const index = readJson(join(path, 'index.json')) as { readonly manifests: readonly [ImageDescriptor] }
  const { config, layers } = readJson(blobPath(index.manifests[0].digest)) as {
    readonly config: ImageDescriptor
    readonly layers: readonly ImageDescriptor[]
  }
  return { path, layers, config: readJson(blobPath(config.digest)) as ImageConfig, blobPath }
}

/** Next to the image, because the directory for temporary files may be in memory, and an unpacked image is large. */
export function createImageTestDirectory(): string {
  return mkdtempSync(join(dirname(imageLayoutPath), 'test-'))
}
