// `convert-template basic|substitutes [FILE]`: prints a template that renders to the catalog in a file, like opm. Exit code
// 1: the file is not a catalog (prints opm's message); 2: the command could not run.
import { readFileSync, statSync } from 'node:fs'
import { convertToTemplate, type TemplateConversionKind } from '@catalog-bot/fbc/template/template-document'
import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'
import { setExitCode, printToStdout, printToStderr } from './output.ts'

export interface ConvertTemplateOptions {
  readonly output: 'json' | 'yaml'
}

export function convertTemplate(
  kind: TemplateConversionKind,
  file: string | undefined,
  { output }: ConvertTemplateOptions,
): void {
  const read = convertToTemplate(kind, readFileOrStdin(file), output)
  if (read.ok) printToStdout(read.value)
  else
    printToStderr(`Error: converting: ${read.error.split('\n').map(escapeNonPrintableCharacters).join('\n')}`)
  setExitCode(read.ok ? 0 : 1)
}

/** Without a file, a terminal as input would block forever. */
function readFileOrStdin(file = '-'): Uint8Array {
  if (file !== '-') {
    if (statSync(file).isDirectory())
      throw new Error(`${file} is a directory: specify one file of the catalog`)
    return readFileSync(file)
  }
  if (process.stdin.isTTY) throw new Error('specify a file, or provide one on standard input')
  return readFileSync(0)
}
