// gRPC reflection, so that tools such as grpcurl need no .proto files.
import { status } from '@grpc/grpc-js'
import { describedFiles, type DescribedFile, type Message } from './services.ts'

/** Answers requests of either version of the protocol. */
export function openReflection(services: readonly string[]): (request: Message) => Message {
  const files = describedFiles()
  const byName = new Map(files.map((file) => [file.name, file]))

  function withDependencies(
    file: DescribedFile,
    into = new Map<string, Uint8Array>(),
  ): Map<string, Uint8Array> {
    into.set(file.name, file.bytes)
    for (const name of file.dependencies) {
      const dependency = byName.get(name)
      if (dependency && !into.has(name)) withDependencies(dependency, into)
    }
    return into
  }

  function fileAnswer(file: DescribedFile | undefined, what: string): Message {
    if (!file) return errorAnswer(status.NOT_FOUND, `${what} not found`)
    return { file_descriptor_response: { file_descriptor_proto: [...withDependencies(file).values()] } }
  }

  function respond(request: Message): Message {
    const kind = request['message_request']
    const found = typeof kind === 'string' ? request[kind] : undefined
    const asked = typeof found === 'string' ? found : ''
    switch (kind) {
      case 'list_services':
        return { list_services_response: { service: services.map((name) => ({ name })) } }
      case 'file_by_filename':
        return fileAnswer(byName.get(asked), asked)
      case 'file_containing_symbol':
        return fileAnswer(
          files.find(({ symbols }) => symbols.has(asked)),
          asked,
        )
      case 'all_extension_numbers_of_type':
      case 'file_containing_extension':
        return errorAnswer(status.NOT_FOUND, 'there are no extensions')
      default:
        return errorAnswer(status.INVALID_ARGUMENT, 'the request asks for nothing')
    }
  }

  return (request) => ({
    valid_host: request['host'],
    original_request: request,
    ...respond(request),
  })
}

function errorAnswer(code: status, message: string): Message {
  return { error_response: { error_code: code, error_message: message } }
}
