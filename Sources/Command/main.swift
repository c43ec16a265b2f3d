internal import HTTPDNSCLI

CommandLineTool.runProcess()
