; Additions to electron-builder's installer and uninstaller, which are made from its templates (templates/nsis).

; electron-builder includes it only without `customCheckAppRunning`.
!include "getProcessInfo.nsh"
Var pid

; Path, links, root and data are each user's own, so electron-builder's choice of all users, a page and /allusers, is gone.
!macro customInstallMode
  StrCpy $isForceCurrentInstall 1
!macroend

!macro customInit
  ${If} ${isForAllUsers}
    MessageBox MB_OK|MB_ICONSTOP "Vivarium is installed for one user: run its installer without /allusers." /SD IDOK
    SetErrorLevel 2
    Quit
  ${EndIf}
!macroend

!macro RUN_VIVARIUM words
  nsExec::ExecToLog '"$SYSDIR\cmd.exe" /d /s /c ""$INSTDIR\resources\bin\vivarium.cmd" ${words}"'
  Pop $0
!macroend

!macro CHANGE_PATH what
  nsExec::ExecToLog '"$SYSDIR\WindowsPowerShell\v1.0\powershell.exe" -NoProfile -NonInteractive -ExecutionPolicy Bypass -File "$INSTDIR\resources\bin\path.ps1" ${what}'
  Pop $0
!macroend

; Just before files are replaced or removed. A running app would hide its window, and then be killed with requests in
; progress. The check that follows is electron-builder's own, for one on another data folder.
!macro customCheckAppRunning
  ${If} ${FileExists} "$INSTDIR\resources\bin\vivarium.cmd"
    !insertmacro RUN_VIVARIUM stop
  ${EndIf}
  !insertmacro IS_POWERSHELL_AVAILABLE
  !insertmacro _CHECK_APP_RUNNING
!macroend

!define LINKS "Software\Classes\vivarium"
!define LOGIN "Software\Microsoft\Windows\CurrentVersion"

!macro customInstall
  !insertmacro CHANGE_PATH add
  ; Links to pages, such as vivarium://doctor. After the separator, a quote in a link cannot add switches (`rules.ts`).
  WriteRegStr HKCU "${LINKS}" "" "URL:Vivarium"
  WriteRegStr HKCU "${LINKS}" "URL Protocol" ""
  WriteRegStr HKCU "${LINKS}\shell\open\command" "" '"$INSTDIR\${APP_EXECUTABLE_FILENAME}" -- "%1"'
!macroend

!macro customUnInstall
  ; An update uninstalls the old version first.
  ${IfNot} ${isUpdated}
    !insertmacro CHANGE_PATH remove
    DeleteRegKey HKCU "${LINKS}"
    ; Start at Login, which Electron names after the app, and what Task Manager says about it.
    DeleteRegValue HKCU "${LOGIN}\Run" "${APP_ID}"
    DeleteRegValue HKCU "${LOGIN}\Explorer\StartupApproved\Run" "${APP_ID}"
    MessageBox MB_YESNO|MB_ICONQUESTION "Your data stays in $APPDATA\Vivarium.$\r$\n$\r$\nRemove Vivarium's root certificate from the trust stores as well? This runs: vivarium uninstall" /SD IDNO IDNO keepRoot
    !insertmacro RUN_VIVARIUM uninstall
    keepRoot:
  ${EndIf}
!macroend
