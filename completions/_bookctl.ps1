# Completion of bookctl's commands, flags and values for PowerShell 5.1 and newer.
# bookctl itself answers, so that this file need not change with it.

Register-ArgumentCompleter -Native -CommandName bookctl, bookctl.exe -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # The words as they are written, and never evaluated: nothing runs before Enter.
    $words = @($commandAst.CommandElements |
            Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
            ForEach-Object {
                if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value }
                else { $_.Extent.Text }
            })
    $words += "$wordToComplete"
    # Before 7.3, PowerShell drops empty words and removes quotation marks in others.
    if ($PSVersionTable.PSVersion -lt [version]'7.3') {
        $words = @($words | ForEach-Object { if ($_ -eq '') { '""' } else { $_ -replace '(\\*)"', '$1$1\"' } })
    }
    $before = $env:BOOKCTL_COMPLETE
    $encoding = [Console]::OutputEncoding
    try {
        $env:BOOKCTL_COMPLETE = 'powershell'
        # bookctl writes UTF-8; Windows PowerShell reads another encoding unless it is told.
        [Console]::OutputEncoding = [System.Text.UTF8Encoding]::new($false)
        & bookctl -- @words 2>$null | ForEach-Object {
            $value, $about = $_ -split "`t", 2
            if (-not $about) { $about = $value }
            # Unquoted, @ names a variable and a comma makes a list.
            $text = if ($value -match '^[\w./:+=\\-]+$') { $value } else { "'" + ($value -replace "'", "''") + "'" }
            [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $about)
        }
    }
    finally {
        [Console]::OutputEncoding = $encoding
        $env:BOOKCTL_COMPLETE = $before
    }
}
