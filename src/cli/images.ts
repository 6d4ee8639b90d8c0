// `images DIR`: looks up every image that a catalog references in its registry. Exit code 0: all exist; 1: some definitely don't
// exist; 2: the result is inconclusive for some images, or the command could not run.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { systemClock } from '../adapters/system-clock.ts'
import { parseCatalogFile } from '@catalog-bot/fbc/load/parse-catalog-file'
import type { ImageLookupAnswer } from '../checks/questions.ts'
import { listCatalogDirectoryFiles } from '../catalogs/catalog-directory.ts'
import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'
import { openRegistryClient } from '../adapters/registry/open-registry.ts'
import { readRegistryAccess } from '../adapters/registry/registry-access.ts'
import {
  isReusableImageAnswer,
  scanImages,
  type ImageScanProgress,
} from '../adapters/registry/scan-images.ts'
import { setExitCode, printToStdout, printToStderr } from './output.ts'

export interface ImagesCommandOptions {
  readonly concurrency: number
  readonly output: 'text' | 'json'
  readonly resume?: string
  readonly insecureRegistry?: readonly string[]
}

export async function checkImages(dir: string, options: ImagesCommandOptions): Promise<void> {
  const references = findCatalogImageReferences(dir)
  const registry = openRegistryClient({
    clock: systemClock,
    ...(await readRegistryAccess(process.env, options.insecureRegistry)),
  })
  const { concurrency, resume } = options
  try {
    const report = await scanImages(registry, references, {
      clock: systemClock,
      concurrency,
      ...(resume !== undefined && {
        earlier: readSavedImageLookupAnswers(resume),
        onAnswer: (reference: string, answer: ImageLookupAnswer) =>
          appendFileSync(resume, `${JSON.stringify({ reference, answer })}\n`),
      }),
      ...(process.stderr.isTTY && { onProgress: printImageScanProgress }),
    })
    if (options.output === 'json')
      for (const [reference, answer] of report.answers)
        printToStdout(JSON.stringify({ reference, ...answer }))
    else {
      for (const [reference, answer] of report.answers)
        if (answer.kind !== 'ok')
          printToStdout(escapeNonPrintableCharacters(`${answer.kind}: ${reference}: ${answer.reason}`))
      for (const { host, total, byKind } of report.registries)
        printToStdout(
          `${host === '' ? '(no registry)' : host}: ${total} (${Object.entries(byKind)
            .map(([kind, count]) => `${count} ${kind}`)
            .join(', ')})`,
        )
    }
    const absent = [...report.answers.values()].filter(({ kind }) => kind !== 'ok')
    setExitCode(absent.some(isReusableImageAnswer) ? 1 : absent.length > 0 ? 2 : 0)
  } finally {
    await registry.close()
  }
}

function findCatalogImageReferences(dir: string): ReadonlySet<string> {
  const directory = listCatalogDirectoryFiles(dir)
  if (directory.kind !== 'files') throw new Error(directory.message)
  const references = new Set<string>()
  for (const file of directory.files) {
    const bytes = file.read()
    if ('error' in bytes) throw new Error(bytes.error)
    for (const { image, relatedImages } of parseCatalogFile(bytes).bundles)
      for (const reference of [image, ...relatedImages.map((related) => related.image)])
        if (reference !== '') references.add(reference)
  }
  return references
}

/** Skips an incomplete last line, so that its reference is looked up again. */
function readSavedImageLookupAnswers(file: string): ReadonlyMap<string, ImageLookupAnswer> {
  const earlier = new Map<string, ImageLookupAnswer>()
  if (!existsSync(file)) return earlier
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    try {
      const { reference, answer } = JSON.parse(line) as { reference: string; answer: ImageLookupAnswer }
      earlier.set(reference, answer)
    } catch {
      continue
    }
  }
  return earlier
}

function printImageScanProgress({ done, total, rate, remaining }: ImageScanProgress): void {
  const left = remaining === undefined ? '' : `, ${Math.ceil(remaining)} s left`
  process.stderr.write(`\r${done} of ${total}, ${rate.toFixed(0)}/s${left}   `)
  if (done === total) printToStderr('')
}
